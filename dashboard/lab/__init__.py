"""The page "Lab"."""
