"""One module per algorithm.

Which one, when: :mod:`~uncletc.solvers.joint.solver`, the default, is more accurate and faster on
everything measured so far, gives intervals, and has no degenerate scale.
:mod:`~uncletc.solvers.bcd` is the paper's own Algorithm 1, for comparison with the paper.
"""
