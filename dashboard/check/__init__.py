"""The page "Model check"."""
