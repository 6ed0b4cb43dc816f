"""The quantities of the recoverability theorem for a given problem (paper, theorem 3.1).

The theorem bounds the squared errors of λ and p by terms whose constants it does not give.
Everything named "without constants" here leaves them out: such numbers can be compared between
problems (does η fall when more is counted? which term is largest?), but they are not error bars,
and errors need not be close to them.

Which one, when: :func:`recoverability` makes the whole report; :class:`Layers` measures a network;
:func:`similar_entries` counts entries with similar attributes.
"""

from uncletc.paper.theory.assumed import Assumed, Given, largest_slope
from uncletc.paper.theory.network import Layers
from uncletc.paper.theory.report import Recoverability, Term
from uncletc.paper.theory.similar import Choice, SimilarEntries, similar_entries
from uncletc.paper.theory.theorem import recoverability

__all__ = [
    "Assumed",
    "Choice",
    "Given",
    "Layers",
    "Recoverability",
    "SimilarEntries",
    "Term",
    "largest_slope",
    "recoverability",
    "similar_entries",
]
