"""Paraphrase identification (NMTScore, section 4)."""
