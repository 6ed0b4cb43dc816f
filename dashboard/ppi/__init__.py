"""The page "Plant–pollinator"."""
