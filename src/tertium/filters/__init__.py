"""Filters of bitext: each is a decision about a pair, with the number that it rests on."""
