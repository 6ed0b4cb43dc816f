"""Anchor: a person's statement about the free scale, as a file of settings holds it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from uncletc.common.serialization import Jsonable
from uncletc.common.validation import FloatArray, check_choice
from uncletc.data.counts import CountTensor
from uncletc.result.fitted_model import FittedModel
from uncletc.result.scale import Scale, Stated, stated_ends

Kind = Literal["relative", "mean", "entry", "best"]
_NEEDS: dict[str, tuple[str, ...]] = {
    "relative": (),
    "best": (),
    "mean": ("value",),
    "entry": ("value", "place"),
}


@dataclass(frozen=True, kw_only=True)
class Anchor(Jsonable):
    """What fixes the scale of λ and p.

    Parameters
    ----------
    kind : {"relative", "mean", "entry", "best"}
        "relative": p over its median, or what observation processes with a known p state; "mean":
        the mean of p over all entries with attributes is `value`; "entry": at `place` it is;
        "best": where p is highest, nothing is missed.
    value : float or pair of float, optional
        The number stated, or the ends of a range that holds it 9 times out of 10.
    place : sequence of str
        Of "entry": labels of the first modes, "" for any of a mode; all entries that have them
        are meant.
    name : str
        What the place is called. Empty: its labels.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> Anchor(kind="mean", value=0.25, name="mean p").value
    0.25
    """

    kind: Kind = "relative"
    value: Stated | None = None
    place: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, get_args(Kind))
        needs = _NEEDS[self.kind]
        for field, given in (("value", self.value is not None), ("place", len(self.place) > 0)):
            if given != (field in needs):
                verb = "be given" if field in needs else "be left out"
                raise ValueError(
                    f"{field} must {verb} for the kind {self.kind!r}, got {getattr(self, field)!r}"
                )
        if self.value is not None:
            ends = stated_ends(self.value, "value", 1.0)
            object.__setattr__(self, "value", ends if len(ends) > 1 else ends[0])
        if isinstance(self.place, str) or not all(isinstance(each, str) for each in self.place):
            raise TypeError(f"place must be labels of modes, got {self.place!r}")
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a text, got {self.name!r}")
        object.__setattr__(self, "place", tuple(self.place))

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

        Raises
        ------
        ValueError
            If no entry of the place has attributes, or a label is of none.
        """
        if self.kind == "relative" and fit.scale is not None:
            return fit.scale
        p = detection_over(counts, fit) if detection is None else detection
        if self.kind == "best":
            return Scale.best_detects_all(p)
        if self.kind == "relative":
            return self.relative(counts, p)
        assert self.value is not None
        if self.kind == "mean":
            return Scale.mean_detection(p, self.value)
        place = self._place(counts)
        there = (counts.attribute_indices[:, list(place)] == list(place.values())).all(axis=1)
        name = self.name or ", ".join(filter(None, self.place))
        if not there.any():
            raise ValueError(f"place must have entries with attributes, {name} has none")
        return Scale.entry_detection(float(p[there].mean()), self.value, name)

    @staticmethod
    def relative(counts: CountTensor, detection: FloatArray) -> Scale:
        """Return p over its median where anything was counted.

        Parameters
        ----------
        counts : CountTensor
        detection : ndarray, shape (S,)
            p as fitted over Ξ. Entries of places (all modes but the last) without any count above
            0, such as pairs of species never seen together, do not enter the median.
        """
        if len(detection) != counts.n_attributed:
            return Scale.relative(detection)
        return Scale.relative(detection[counts.seen_rows])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a file, without those left out; :meth:`from_dict` reads them."""
        return {name: given for name, given in asdict(self).items() if given not in {None, (), ""}}

    def _place(self, counts: CountTensor) -> dict[int, int]:
        """Return the index of the place along each mode that it names."""
        if len(self.place) > len(counts.modes):
            raise ValueError(
                f"place must be labels of the first modes of {', '.join(counts.modes)}, "
                f"got {len(self.place)}"
            )
        named = {k: label for k, label in enumerate(self.place) if label}
        for k, label in named.items():
            if label not in counts.labels[k]:
                raise ValueError(
                    f"place must be labels of the modes; {counts.modes[k]} has no {label!r}"
                )
        return {k: counts.labels[k].index(label) for k, label in named.items()}


def detection_over(counts: CountTensor, fit: FittedModel) -> FloatArray:
    """p as fitted over Ξ; without any attributes that of every entry, alone in an array."""
    if not counts.n_attributed:
        return np.array([fit.mean_detection])
    return fit.detection(counts.attributes, counts.attribute_indices)
