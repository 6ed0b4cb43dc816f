"""The joint solver: factors, curves and dispersion."""
