"""Dataset: counts, the tables that pages show, and their provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.data.observations import Observations
from uncletc.data.roles import Roles
from uncletc.data.simulate import Truth


class DataUnavailableError(RuntimeError):
    """Files of a data set are neither here nor available; the message says what to do."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file or publication that a data set was made from.

    Attributes
    ----------
    name : str
        Its name, as displayed.
    url : str
        Its address.
    licence : str
        Its licence, or ``"none stated"``.
    used_for : str
        The quantities taken from it.
    """

    name: str
    url: str
    licence: str
    used_for: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a data set came from and what was done to it.

    Attributes
    ----------
    simulated : bool
        Whether the data contain no real observation.
    period : str
        The dates covered, in words.
    sources : tuple of Source
    rules : tuple of str
        Every choice applied on the way from the files to the tensor, one sentence each.
    """

    simulated: bool
    period: str
    sources: tuple[Source, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class AttributeInfo:
    """What the values of an attribute are, for readers: counts hold it scaled to 0..1.

    Attributes
    ----------
    explanation : str
        What it is, in a sentence; empty where nobody has said.
    unit : str
        Such as "%" or "people"; empty where there is none, or it is not known.
    minimum, maximum : float
        The values that 0 and 1 stand for, in its unit.
    levels : tuple of str
        Names of its two values, the smaller first, where it has no others; else empty.
    cumulative : bool
        Whether it only rises in time, so that its effect cannot be separated from that of time.
    """

    explanation: str = ""
    unit: str = ""
    minimum: float = 0.0
    maximum: float = 1.0
    levels: tuple[str, ...] = ()
    cumulative: bool = False

    def value(self, scaled: ArrayLike) -> FloatArray:
        """Values in the attribute's unit, from scaled ones; of the same shape."""
        share = np.asarray(scaled, dtype=np.float64)
        return self.minimum + share * (self.maximum - self.minimum)


def described(
    values: Mapping[str, FloatArray], known: Mapping[str, AttributeInfo] | None = None
) -> dict[str, AttributeInfo]:
    """Return what unscaled attributes are, by name.

    Parameters
    ----------
    values : mapping of str to ndarray
        Finite, as they are before :func:`uncletc.datasets.reading.scaled`.
    known : mapping of str to AttributeInfo, optional
        What stored values are; 1 stands for its `maximum`.
    """
    found = {}
    for name, column in values.items():
        about = (known or {}).get(name, AttributeInfo())
        ends = [column.min(), column.max()] if np.size(column) else [0.0, 1.0]
        low, high = about.value(ends).tolist()
        found[name] = replace(about, minimum=low, maximum=high)
    return found


def simulated_info(
    names: Iterable[str], known: Mapping[str, AttributeInfo]
) -> dict[str, AttributeInfo]:
    """Return what simulated attributes are: values without a unit, of what real ones would be."""
    found = {}
    for name in names:
        about = known.get(name, AttributeInfo())
        found[name] = AttributeInfo(
            unit="" if about.levels else "simulated; 0: smallest, 1: largest",
            explanation=about.explanation and f"Simulated after: {about.explanation}",
            levels=about.levels,
            cumulative=about.cumulative,
        )
    return found


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Counts ready to fit, with the tables that pages show.

    Attributes
    ----------
    name : str
        The name given to :func:`uncletc.datasets.load`.
    title : str
        Its title, as displayed.
    counts : CountTensor
    table : pandas.DataFrame
        One row per county (COVID-19) or per plant–pollinator pair; see the loader.
    mode_tables : mapping of str to pandas.DataFrame
        Per mode name, one row per index of that mode, in order.
    provenance : Provenance
    truth : Truth, optional
        The known truth, for simulated data only.
    roles : Roles
        What is known of the attributes from elsewhere: what each acts on, in which direction, and
        why. `counts` do not have them yet: their attributes all act on detection, as in the paper.
        ``roles.apply(counts)`` and ``FitSettings(signs=roles.signs)`` do.
    effects : mapping of str to str
        Effects of modes and groups that the data are known to need, each with its reason, for
        ``FitSettings(effects=list(dataset.effects))``.
    deaths : pandas.DataFrame, optional
        Of simulated COVID-19 cases: one row per counted cell and day of report, with
        ``latitude_index``, ``longitude_index``, ``day``, ``deaths`` and ``ifr``, the stated share
        of true cases that ends in death. :func:`uncletc.datasets.deaths_observations` makes it an
        observation process.
    county_counts : ndarray, optional
        Of COVID-19 cases: the reports of each county of `table` by day; NaN: no report.
    attribute_info : mapping of str to AttributeInfo
        Of the attributes of which something is known; :meth:`about` knows all.
    """

    name: str
    title: str
    counts: CountTensor
    table: pd.DataFrame
    mode_tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    provenance: Provenance
    truth: Truth | None = None
    roles: Roles = field(default_factory=Roles)
    effects: Mapping[str, str] = field(default_factory=dict)
    deaths: pd.DataFrame | None = None
    county_counts: FloatArray | None = None
    attribute_info: Mapping[str, AttributeInfo] = field(default_factory=dict)

    def about(self, attribute: str) -> AttributeInfo:
        """What the values of an attribute are; from 0 to 1 without a unit where nobody said."""
        return self.attribute_info.get(attribute, AttributeInfo())

    def with_roles(self, roles: Roles | None = None) -> Dataset:
        """Return the same with the roles given to the attributes; None: its own."""
        chosen = self.roles if roles is None else roles
        return replace(self, counts=chosen.apply(self.counts))

    def with_observations(self, *observations: Observations) -> Dataset:
        """Return the same with other further observation processes."""
        return replace(self, counts=self.counts.with_observations(*observations))
