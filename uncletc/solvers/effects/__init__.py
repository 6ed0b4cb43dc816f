"""Random effects beside the factors and curves."""
