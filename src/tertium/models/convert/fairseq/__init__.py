"""Conversion of fairseq releases, without fairseq."""
