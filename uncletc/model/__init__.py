"""Formulas of the model: rates, detection, random effects and the distribution of counts."""
