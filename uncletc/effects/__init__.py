"""What moves detection in a fit: effects of attributes on p, their importance, explanations.

Which one, when:

- :func:`permutation_importance`: which attributes the predicted counts depend on at all.
- :func:`accumulated_effect`: how p moves with one attribute; the one to read first, because it
  asks g only for combinations of attributes near those in the data.
- :func:`partial_dependence`: the same with everything else held; easier to explain, but where
  attributes go together it averages over combinations that nobody saw.
- :func:`pair_effect`: how p moves with two attributes at once.
- :func:`explain`: why p of some entries differs from that of a typical entry.

Everything is said about log p, so the free scale between λ and p drops out: exp(effect) is a
ratio of p. Everything is computed over the counted entries that have attributes (Ω ∩ Ξ), where
counts say something about g; over Ξ where there are none. These are descriptions of the fitted
g, not of causes.
"""

from uncletc.effects.curves import accumulated_effect, pair_effect, partial_dependence
from uncletc.effects.entries import attribute_groups
from uncletc.effects.explanation import explain
from uncletc.effects.importance import permutation_importance
from uncletc.effects.records import Effect, Explanation, Importance, LogEffects, PairEffect

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
