"""What moves detection in a fit: effects of attributes on p, their importance, explanations.

Which one, when:

- :func:`permutation_importance`: which attributes the predicted counts depend on at all.
- :func:`accumulated_effect`: how p changes with one attribute; read this first, because it
  evaluates g only at combinations of attributes close to those in the data.
- :func:`partial_dependence`: the same with everything else held fixed; easier to explain, but if
  attributes are correlated it averages over combinations that do not occur.
- :func:`pair_effect`: how p changes with two attributes at once.
- :func:`explain`: why p of some entries differs from that of a typical entry.

All effects are on log p, so the free scale between λ and p drops out: exp(effect) is a ratio of p.
They are computed over the counted entries with attributes (Ω ∩ Ξ), where counts inform g, or over
Ξ if no counted entry has attributes. They describe the fitted g, not causes.

Examples
--------
>>> from uncletc import effects, fit, simulate
>>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
>>> model = fit(y, rank=2)
>>> effects.permutation_importance(model, y).names[:2]  # an Importance
('z1', 'z2')
>>> curve = effects.accumulated_effect(model, y, "z1")  # an Effect
>>> curve.values.shape, bool(curve.ratio.min() > 0)
((31, 1), True)
>>> effects.partial_dependence(model, y, "z1").ratio.shape
(30,)
>>> effects.pair_effect(model, y, "z1", "z2").interaction.ndim  # a PairEffect
2
>>> effects.explain(model, y, y.indices[:1]).names[:2]  # an Explanation
('z1', 'z2')
"""

from uncletc.effects.attribution import Explanation, Importance, explain, permutation_importance
from uncletc.effects.curves import (
    Effect,
    LogEffects,
    PairEffect,
    accumulated_effect,
    attribute_groups,
    pair_effect,
    partial_dependence,
)

__all__ = [
    "Effect",
    "Explanation",
    "Importance",
    "LogEffects",
    "PairEffect",
    "accumulated_effect",
    "attribute_groups",
    "explain",
    "pair_effect",
    "partial_dependence",
    "permutation_importance",
]
