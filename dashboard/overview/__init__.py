"""The page "Overview"."""
