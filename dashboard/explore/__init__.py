"""The page "Explore"."""
