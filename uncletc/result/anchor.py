"""Anchor: a person's statement about the free scale, as a file of settings holds it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from uncletc.common.serialization import Jsonable
from uncletc.common.validation import FloatArray, check_choice
from uncletc.data.counts import CountTensor
from uncletc.result.fitted_model import FittedModel
from uncletc.result.scale import Scale, Stated, stated_ends

Kind = Literal["relative", "mean", "best"]


@dataclass(frozen=True, kw_only=True)
class Anchor(Jsonable):
    """What fixes the scale of λ and p. What is known of one place is a survey of it.

    Parameters
    ----------
    kind : {"relative", "mean", "best"}
        "relative": p over its median, or what observation processes with a known p state; "mean":
        the mean of p over all entries with attributes is `value`; "best": where p is highest,
        nothing is missed.
    value : float or pair of float, optional
        Of "mean": the number stated, or the ends of a range that holds it 9 times out of 10.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> Anchor(kind="mean", value=0.25).value
    0.25
    """

    kind: Kind = "relative"
    value: Stated | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, get_args(Kind))
        if (self.value is not None) != (self.kind == "mean"):
            verb = "be given" if self.kind == "mean" else "be left out"
            raise ValueError(f"value must {verb} for the kind {self.kind!r}, got {self.value!r}")
        if self.value is not None:
            ends = stated_ends(self.value, "value", 1.0)
            object.__setattr__(self, "value", ends if len(ends) > 1 else ends[0])

    def scale(
        self, counts: CountTensor, fit: FittedModel, detection: FloatArray | None = None
    ) -> Scale:
        """Return the scale for a fit of these counts.

        Parameters
        ----------
        counts : CountTensor
        fit : Fit
        detection : ndarray, shape (S,), optional
            p as fitted over Ξ, where it is known already.
        """
        if self.kind == "relative" and fit.scale is not None:
            return fit.scale
        p = detection_over(counts, fit) if detection is None else detection
        if self.kind == "best":
            return Scale.best_detects_all(p)
        if self.value is not None:
            return Scale.mean_detection(p, self.value)
        # Entries of places (all modes but the last) without any count above 0, such as pairs of
        # species never seen together, do not enter the median.
        return Scale.relative(p[counts.seen_rows] if len(p) == counts.n_attributed else p)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a file, without those left out; :meth:`from_dict` reads them."""
        return {name: given for name, given in asdict(self).items() if given is not None}


def detection_over(counts: CountTensor, fit: FittedModel) -> FloatArray:
    """p as fitted over Ξ; without any attributes that of every entry, alone in an array."""
    if not counts.n_attributed:
        return np.array([fit.mean_detection])
    return fit.detection(counts.attributes, counts.attribute_indices)
