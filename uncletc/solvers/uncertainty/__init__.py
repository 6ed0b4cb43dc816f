"""Draws of the parameters, and the calibration of intervals."""
