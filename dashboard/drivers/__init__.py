"""The page "Drivers"."""
