"""One module per algorithm.

Which one, when: :mod:`~uncletc.solvers.bcd` is the paper's own Algorithm 1.
"""
