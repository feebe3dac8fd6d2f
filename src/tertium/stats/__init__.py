"""Statistics: pure functions of arrays, seeded, with nothing of texts or measures in them.

Matrices of scores have a row a system and a column an input (a segment, a source sentence). Higher
is better. Where it can be, a bootstrap sample is written as how often each item was drawn
(``counts``): every statistic that takes ``counts`` computes all samples at once, and exactly what
it would give on the items drawn.
"""
