"""Folds, scores and comparisons on held-out counts."""
