"""The page "Methods"."""
