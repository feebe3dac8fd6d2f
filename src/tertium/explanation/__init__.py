"""Why a score is what it is: tokens, alignments, intermediate translations."""
