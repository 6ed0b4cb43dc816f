"""The page "What if"."""
