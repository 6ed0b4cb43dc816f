"""The page "Your table"."""
