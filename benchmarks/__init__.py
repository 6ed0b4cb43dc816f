"""Accuracy and speed of the solvers, measured; see README.md beside this file."""
