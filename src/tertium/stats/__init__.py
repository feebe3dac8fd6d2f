"""Statistics: pure, seeded functions of arrays, independent of texts and measures.

Matrices of scores have the shape (systems, inputs); an input is a segment or a source sentence.
Higher is better. A bootstrap sample is given by how often each item was drawn (``counts``): a
statistic that takes ``counts`` computes all samples at once, with the same result as on the items
drawn.
"""
