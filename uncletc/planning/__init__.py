"""Plan the next season: how much narrower intervals would be with more counts, from a fit.

Which function, when: :func:`plan` simulates designs from a fit, refits them, and returns a
:class:`Plan`, whose ``summary`` and ``cheapest`` compare them; :func:`try_design` does one design,
for programs that run them apart. A :class:`Design` says how many more visits or places there would
be, or a :class:`Survey` that tells p at some places; :class:`Costs` says what they cost.

A new level of a mode, a visit or a place, is like one of those fitted, drawn at random: it has that
level's rows of attributes, its exposure, its row of the factors, its effects, and is counted where
that one was. Counts are negative binomial, with the fit's λ, p, μ and dispersion. All designs of
one repeat share the counts of the present entries, so that what differs between them is what they
add. Refits have the settings of the fit; only a trained network is not tried where the fit has
none.
"""

from uncletc.planning.costs import Costs
from uncletc.planning.designs import PRESENT, Design, Survey
from uncletc.planning.results import ABSOLUTE, QUANTITIES, RELATIVE, Plan
from uncletc.planning.trying import fits_of_plan, plan, seconds_of_plan, try_design
from uncletc.planning.widths import widths_of_fit

__all__ = [
    "ABSOLUTE",
    "PRESENT",
    "QUANTITIES",
    "RELATIVE",
    "Costs",
    "Design",
    "Plan",
    "Survey",
    "fits_of_plan",
    "plan",
    "seconds_of_plan",
    "try_design",
    "widths_of_fit",
]
