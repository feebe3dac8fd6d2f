"""Two or more systems on one test set: which is better, and is it chance?"""
