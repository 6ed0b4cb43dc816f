"""Surveys: independent estimates of the true number, or of p, of groups of entries."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd

from uncletc.common.validation import IntArray, as_names, check_among, check_choice, check_positive
from uncletc.data.entries import label_texts
from uncletc.data.frames import numbers
from uncletc.data.groups import Group

Of = Literal["number", "p"]
# Draws of a fit for each survey: what surveys say of it rests on covariances over draws, whose
# errors take up about the number of surveys over that of draws of all variance.
DRAWS_A_SURVEY = 20
_MOST = 100  # surveys
_LARGEST = 20_000_000  # entries of a group
_COLUMNS = ("estimate", "standard_error", "of")


@dataclass(frozen=True)
class Survey:
    """An estimate with a standard error of the true number, or of p, of a group of entries.

    A fit of counts takes it as a further observation with an error of its own: log-normal, with
    the relative standard error of the estimate. It sets the scale of λ and p, which counts leave
    free; several surveys also move groups against one another as far as counts leave that open.

    Parameters
    ----------
    estimate : float
        > 0; of p at most 1.
    standard_error : float
        > 0 and below the estimate.
    where : mapping of str to str or sequence of str
        Labels of modes, or of groups of the counts such as "state", that its entries have. Modes
        that are not named: all of their levels.
    of : {"number", "p"}
        The number of true events in all entries of the group, counted or not; or the share that
        was counted of the true events in its counted entries.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> Survey(4200, 300, {"area": "north", "month": ["May", "June"]}).where
    (('area', ('north',)), ('month', ('May', 'June')))
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> found = fit(y, rank=2, surveys=[Survey(170_000, 14_000, {"mode 1": "3"})])
    >>> found.scale.statement
    'calibrated to 1 survey'
    """

    estimate: float
    standard_error: float
    where: Mapping[str, str | Sequence[str]] | tuple[tuple[str, tuple[str, ...]], ...] = ()
    of: Of = field(default="number", kw_only=True)

    def __post_init__(self) -> None:
        check_choice("of", self.of, get_args(Of))
        for name in _COLUMNS[:2]:
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))
        if self.estimate > 1 and self.of == "p":
            raise ValueError(f"estimate must be at most 1 for a survey of p, got {self.estimate}")
        if self.standard_error >= self.estimate:
            raise ValueError(
                f"standard_error must be below the estimate, {self.estimate}; "
                f"got {self.standard_error}"
            )
        if not isinstance(self.where, Mapping | tuple):
            raise TypeError(f"where must map modes or groups to labels, got {self.where!r}")
        where = {
            str(name): tuple(map(str, as_names(given) if isinstance(given, Iterable) else [given]))
            for name, given in dict(self.where).items()
        }
        object.__setattr__(self, "where", tuple(where.items()))

    @property
    def log_variance(self) -> float:
        """Variance of the logarithm of the estimate, a true number's own chance included."""
        chance = 1 / self.estimate if self.of == "number" else 0.0
        return math.log1p((self.standard_error / self.estimate) ** 2 + chance)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a file; ``Survey(**values)`` reads them back."""
        return asdict(self) | {"where": dict(self.where)}

    def within(self, groups: Mapping[str, Group]) -> Self:
        """Return the same, checked against the modes and groups of a tensor."""
        among = f"a survey must name modes or groups among {', '.join(groups)};"
        for name, labels in dict(self.where).items():
            check_among([name], groups, among)
            known = groups[name].labels
            first = ", ".join(map(repr, known[:3]))
            check_among(labels, known, f"a survey must name labels of {name}, such as {first};")
        return self

    def entries(
        self, groups: Mapping[str, Group], modes: Sequence[str], shape: Sequence[int]
    ) -> IntArray:
        """Return all entries of the group, counted or not; (n, K)."""
        levels = [np.arange(size) for size in shape]
        where = {
            name: np.flatnonzero(np.isin(groups[name].labels, labels))
            for name, labels in dict(self.where).items()
        }
        for name in set(where) & set(modes):
            levels[list(modes).index(name)] = where.pop(name)
        if math.prod(map(len, levels)) > _LARGEST:
            raise ValueError(f"a survey must concern at most {_LARGEST:,} entries")
        found = np.stack(np.meshgrid(*levels, indexing="ij"), axis=-1).reshape(-1, len(shape))
        for name, codes in where.items():
            found = found[np.isin(groups[name].at(found, modes), codes)]
        return found


def check_surveys(given: Sequence[Survey], groups: Mapping[str, Group]) -> tuple[Survey, ...]:
    """Return surveys checked against the modes and groups of a tensor."""
    for each in given:
        if not isinstance(each, Survey):
            raise TypeError(f"surveys must be Survey objects, got {type(each).__name__}")
    if len(given) > _MOST:
        raise ValueError(f"surveys must be at most {_MOST}, got {len(given)}: combine some")
    return tuple(each.within(groups) for each in given)


def surveys_from_frame(frame: pd.DataFrame, groups: Mapping[str, Group]) -> list[Survey]:
    """Read surveys from a table, a row each.

    Parameters
    ----------
    frame : DataFrame
        Columns "estimate" and "standard_error", maybe "of", and modes or groups: a label, several
        with ";" between them, or "first to last" in their order; empty for all.
    groups : mapping of str to Group
        Of the counts, modes included.

    Raises
    ------
    ValueError
        Naming the column, the data row, the value and the rule.
    """
    for column in _COLUMNS[:2]:
        if column not in frame.columns:
            has = ", ".join(map(str, frame.columns))
            raise ValueError(f"surveys must have a column {column!r}; they have {has}")
    named = {str(name): frame[name] for name in frame.columns if name not in _COLUMNS}
    # Beside an empty cell pandas keeps whole numbers as floats, 2 as 2.0.
    named = {name: own.convert_dtypes() if own.hasnans else own for name, own in named.items()}
    texts = {name: label_texts(own).where(own.notna(), "") for name, own in named.items()}
    of = frame.get("of", pd.Series("number", frame.index)).fillna("number")
    estimate, error = (numbers(frame, column) for column in _COLUMNS[:2])
    found = []
    for row, kind in enumerate(of):
        try:
            where = {
                name: _levels(text.iloc[row], groups[name].labels if name in groups else ())
                for name, text in texts.items()
                if text.iloc[row]
            }
            stated: Any = str(kind).strip()
            survey = Survey(float(estimate[row]), float(error[row]), where, of=stated)
            found.append(survey.within(groups))
        except ValueError as problem:
            raise ValueError(f"data row {row + 1} of surveys: {problem}") from problem
    return found


def _levels(text: str, known: Sequence[str]) -> list[str]:
    """Return the labels that a cell of a table names."""
    found = list[str]()
    for part in [text] if text in known else [each.strip() for each in text.split(";")]:
        ends = [end.strip() for end in part.split(" to ")]
        if part not in known and len(ends) == 2 and all(end in known for end in ends):
            first, last = map(list(known).index, ends)
            found += known[first : last + 1]
        else:
            found.append(part)
    return found
