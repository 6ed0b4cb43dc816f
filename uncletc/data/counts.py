"""CountTensor: counts (Ω), attributes (Ξ) and labels of the entries of a tensor."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from uncletc.common.serialization import PathOrFile, read_packed, write_packed
from uncletc.common.validation import (
    FloatArray,
    IntArray,
    as_names,
    check_among,
    check_choice,
    check_counts,
    check_distinct,
    check_indices,
    check_kind,
    check_named,
    check_shape,
    check_unique,
)
from uncletc.data import frames
from uncletc.data.entries import (
    Labels,
    check_attributed,
    check_exposure,
    check_labels,
    check_names,
    exposure_at,
    flat_index,
    pandas_of,
)
from uncletc.data.groups import Group, every_group
from uncletc.data.observations import Observations
from uncletc.data.protocols import Protocol, band_edges
from uncletc.data.surveys import Survey, check_surveys, surveys_from_frame

_COUNTS_FORMAT = 5  # raised whenever files of counts change their contents; part of their digest
_OBSERVATION_ARRAYS = ("indices", "counts", "known_detection", "attributes", "exposure")
_ARRAYS = ("indices", "counts", "attributes", "rate_attributes", "attribute_indices")
_T = TypeVar("_T", bound=np.generic)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CountTensor:
    """Counts of some entries of a tensor, and attributes of some entries.

    The entries with a count are the observed set Ω, those with attributes the attributed set Ξ
    (paper, section 2.1). Either may contain the other, they may be equal, or overlap in part.
    An entry outside Ω was not counted: it is missing, not zero.

    Parameters
    ----------
    shape : sequence of int
        Size I_k of each of the K ≥ 2 modes.
    indices : array_like of int, shape (N, K)
        Ω, one distinct entry per row, 0 ≤ index < I_k.
    counts : array_like of int, shape (N,)
        y ≥ 0, the reported count of each row of `indices`.
    attributes : array_like of float, shape (S, D), optional
        z, finite, one row per attributed entry. None: no entry has attributes.
    attribute_indices : array_like of int, shape (S, K), optional
        Ξ, one distinct entry per row of `attributes`. None: the same rows as `indices`.
    modes : sequence of str, optional
        K distinct names of the modes. None: "mode 1", "mode 2", …
    labels : sequence of sequences, optional
        For each mode I_k labels, kept as text; results give them as they were: numbers, dates,
        categories or text. None: the indices themselves.
    attribute_names : sequence of str, optional
        D distinct names. None: "z1", "z2", …
    rate_attributes : array_like of float, shape (S, P), optional
        x, finite, one row per attributed entry: attributes that act on the true rate, λ, where
        `attributes` act on detection. One that may act on both stands in both, under one name.
        None: none does, as in the paper.
    rate_attribute_names : sequence of str, optional
        P distinct names. None: "x1", "x2", …
    exposure : array_like of float, optional
        What true counts are proportional to, all else being equal, such as the population of a
        place: λ is exposure times a low-rank tensor. K dimensions, each of size I_k or 1 (constant
        along that mode); ≥ 0, and > 0 at observed entries. None: 1 everywhere.
    observations : sequence of Observations, optional
        Further counts of the same entries, each with its own detection; see :class:`Observations`.
        None: each entry was counted once.
    groups : sequence of Group, optional
        What else entries have in common than their modes, for effects of modes: a state, a
        weekday. None: nothing.
    surveys : sequence of Survey, optional
        Independent estimates of true numbers, or of p, of groups of entries. None: there are none.
    captures : array_like of int, shape (A, 2), optional
        Of A marked animals, which :meth:`from_histories` counts: the level of the first of two
        modes, at how many levels of the second the animal was caught and, in further columns, at
        which of these first and last, so that a fit tests whether p changes then. None: not marked.
    protocol : {"", "removal", "line transect", "point transect"}
        How the levels of one of two modes see the same animals; see :meth:`with_protocol`.
    simulated : bool
        Whether the data contain no real observation; every view then says so.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule it breaks.

    Examples
    --------
    >>> y = CountTensor((2, 3), [[0, 0], [1, 2]], [4, 0], attributes=[[0.5], [0.1]])
    >>> y.n_observed, y.n_attributed, y.share_observed
    (2, 2, 0.3333333333333333)
    """

    shape: tuple[int, ...]
    indices: IntArray
    counts: IntArray
    attributes: FloatArray
    attribute_indices: IntArray
    modes: tuple[str, ...]
    labels: tuple[Labels, ...]
    attribute_names: tuple[str, ...]
    rate_attributes: FloatArray
    rate_attribute_names: tuple[str, ...]
    exposure: FloatArray | None
    observations: tuple[Observations, ...]
    groups: tuple[Group, ...]
    surveys: tuple[Survey, ...]
    captures: IntArray | None
    protocol: Protocol
    simulated: bool

    def __init__(
        self,
        shape: Sequence[int],
        indices: ArrayLike,
        counts: ArrayLike,
        *,
        attributes: ArrayLike | None = None,
        attribute_indices: ArrayLike | None = None,
        modes: Sequence[str] | None = None,
        labels: Sequence[Iterable[Any]] | None = None,
        attribute_names: Sequence[str] | None = None,
        rate_attributes: ArrayLike | None = None,
        rate_attribute_names: Sequence[str] | None = None,
        exposure: ArrayLike | None = None,
        observations: Sequence[Observations] = (),
        groups: Sequence[Group] = (),
        surveys: Sequence[Survey] = (),
        captures: ArrayLike | None = None,
        protocol: Protocol = "",
        simulated: bool = False,
    ) -> None:
        sizes = check_shape(shape)
        observed = check_indices(indices, sizes, "indices")
        check_distinct(flat_index(observed, sizes), observed, "indices")
        reported = check_counts(counts, len(observed))
        z, attributed, x = check_attributed(
            attributes, rate_attributes, attribute_indices, observed, sizes
        )
        sized = check_exposure(exposure, sizes, observed)
        names = check_names(modes, len(sizes), "modes", "mode ")
        processes = check_named(observations, Observations, "observations")
        check_choice("protocol", protocol, get_args(Protocol))
        if protocol and len(sizes) != 2:
            raise ValueError(
                f"{protocol} must be of counts of 2 modes, got {names}: make one column of those "
                "that say where"
            )
        found, known = check_named(groups, Group, "groups"), check_labels(labels, sizes)
        pairs = None if captures is None else frames.check_captures(captures, observed, reported)
        vars(self).update(  # as it is frozen
            shape=sizes,
            indices=_frozen(observed),
            counts=_frozen(reported),
            attributes=_frozen(z),
            attribute_indices=_frozen(attributed),
            modes=names,
            labels=known,
            attribute_names=check_names(attribute_names, z.shape[1], "attribute_names", "z"),
            rate_attributes=_frozen(x),
            rate_attribute_names=check_names(
                rate_attribute_names, x.shape[1], "rate_attribute_names", "x"
            ),
            exposure=None if sized is None else _frozen(sized),
            observations=tuple(each.within(sizes, z.shape[1]) for each in processes),
            groups=tuple(each.within(names, sizes) for each in found),
            surveys=check_surveys(surveys, every_group(found, names, known)) if surveys else (),
            captures=pairs,
            protocol=protocol,
            simulated=bool(simulated),
        )

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        modes: Sequence[str],
        counts: str = "count",
        attributes: str | Sequence[str] = (),
        rate_attributes: str | Sequence[str] = (),
        exposure: str | None = None,
        simulated: bool = False,
    ) -> Self:
        """Make counts from a table in long form, one row per entry.

        Parameters
        ----------
        frame : DataFrame
            Of pandas or polars. A combination of labels without a row is missing, not zero.
        modes : sequence of str
            K ≥ 2 columns that name an entry, such as place, species and week. Their labels are
            sorted as numbers or dates if all of a mode are, categories as they are, else as text.
        counts : str
            The column with counts, whole numbers ≥ 0. Empty: not counted, which is missing, not
            zero; attributes of the row are still used, and its labels are levels.
        attributes : sequence of str
            D columns that detection may depend on, not rescaled. A column of text becomes columns
            of 0 and 1, "observer: B", against its most frequent value. An empty one is that of
            other rows with the same label where labels decide it, as of elevation at a site; else
            what is usual for its labels (the sum of main effects). A row left with none has none.
        rate_attributes : sequence of str
            P columns that the true rate may depend on, likewise; a column may be in both.
        exposure : str, optional
            A column of numbers > 0 that true counts are proportional to, such as people or traps;
            entries without a row get the median.
        simulated : bool
            See :class:`CountTensor`.

        Raises
        ------
        ValueError, TypeError
            Naming the column, the data row, the value and the rule it breaks.

        Examples
        --------
        >>> frame = pd.DataFrame({"site": ["a", "a", "b"], "week": [1, 2, 1], "count": [4, 0, 2]})
        >>> CountTensor.from_frame(frame, modes=["site", "week"])
        CountTensor(2 × 2, 3 observed (75.0%), 0 attributed, 0 attributes)
        """
        frame = pandas_of(frame, "frame")
        modes, detection, rate = map(as_names, (modes, attributes, rate_attributes))
        chosen: set[Any] = {*modes, counts, *detection, *rate, exposure}
        check_unique([str(c) for c in frame if c in chosen], "columns must have distinct names")
        frame, named, _ = frames.with_categories(frame, (*detection, *rate))
        detection, rate = (
            tuple(name for column in columns for name in named.get(column, (column,)))
            for columns in (detection, rate)
        )
        every = (*detection, *(each for each in rate if each not in detection))
        fields = frames.read_rows(frame, modes, counts, every, exposure)
        tensor = cls(**fields, simulated=simulated)
        return tensor.with_roles(detection=detection, rate=rate) if rate else tensor

    @classmethod
    def from_dense(
        cls, array: ArrayLike, *, attributes: ArrayLike | None = None, **options: Any
    ) -> Self:
        """Make counts from a dense array.

        Parameters
        ----------
        array : array_like, shape (I_1, …, I_K)
            Counts, whole numbers ≥ 0; NaN: not counted.
        attributes : array_like of float, shape (I_1, …, I_K, D), optional
            z of every entry; an entry with a NaN has no attributes.
        **options
            `modes`, `labels`, `attribute_names`, `exposure` and `simulated` of
            :class:`CountTensor`.

        Raises
        ------
        ValueError, TypeError
            Naming the argument, the value and the rule it breaks.

        Examples
        --------
        >>> CountTensor.from_dense([[4, 0, np.nan], [np.nan, 2, 1]])
        CountTensor(2 × 3, 4 observed (66.7%), 0 attributed, 0 attributes)
        """
        return cls(**frames.read_dense(array, attributes), **options)

    @classmethod
    def from_histories(
        cls,
        sites: Sequence[Any],
        histories: Sequence[str],
        *,
        levels: Sequence[Any] | None = None,
        modes: Sequence[str] = ("site", "visit"),
        **options: Any,
    ) -> Self:
        """Count marked animals by site and visit, and keep how often each was caught.

        A closed fit then uses the multinomial likelihood of their histories.

        Parameters
        ----------
        sites : sequence, shape (A,)
            Where each animal was caught.
        histories : sequence of str, shape (A,)
            A character per visit: 1 caught, 0 not caught, x for a site that was not visited. Two
            observers are two visits.
        levels : sequence, optional
            All sites, also those without animals. None: those of the animals, sorted.
        modes : sequence of str
            Names of the two modes.
        **options
            `attributes`, `attribute_names`, `exposure` and `simulated` of :meth:`from_dense`.

        Raises
        ------
        ValueError
            Naming the argument, the value and the rule it breaks.

        Examples
        --------
        >>> CountTensor.from_histories(["a", "a", "b"], ["101", "001", "010"])
        CountTensor(2 × 3, 6 observed (100.0%), 0 attributed, 0 attributes)
        """
        table, labels, captures = frames.read_histories(sites, histories, levels)
        visits = range(1, table.shape[1] + 1)
        counts = cls.from_dense(table, modes=modes, labels=[labels, visits], **options)
        return counts.with_captures(captures)

    @classmethod
    def from_xarray(cls, array: Any, *, attributes: Any = None, **options: Any) -> Self:
        """Make counts from a labelled array.

        Parameters
        ----------
        array : xarray.DataArray
            Counts, NaN where not counted; its dimensions are the modes.
        attributes : xarray.Dataset, optional
            A variable for each attribute, over some or all of these dimensions, by whose labels
            they are found: in any order, and an entry for which one is missing has no attributes.
        **options
            `exposure` and `simulated` of :class:`CountTensor`.

        Raises
        ------
        ValueError, TypeError
            As :meth:`from_dense`.

        Examples
        --------
        >>> import xarray as xr
        >>> labels = {"site": ["a", "b"], "year": [2023, 2024]}
        >>> CountTensor.from_xarray(xr.DataArray([[3.0, 1.0], [float("nan"), 2.0]], labels))
        CountTensor(2 × 2, 3 observed (75.0%), 0 attributed, 0 attributes)
        """
        import xarray as xr

        check_kind("array", array, xr.DataArray)
        values = None
        if attributes is not None:
            check_kind("attributes", attributes, xr.Dataset)
            check_among(attributes.dims, array.dims, f"attributes must be over {array.dims},")
            every = attributes.reindex_like(array).broadcast_like(array)
            values = every.to_dataarray("one attribute").transpose(*array.dims, ...).to_numpy()
        return cls.from_dense(
            array.to_numpy(),
            attributes=values,
            modes=[str(dim) for dim in array.dims],
            labels=[array[dim].to_numpy() for dim in array.dims],
            attribute_names=None if attributes is None else list(map(str, attributes.data_vars)),
            **options,
        )

    def to_frame(self, *, counts: str = "count", exposure: str = "exposure") -> pd.DataFrame:
        """Write a table in long form, which :meth:`from_frame` reads back.

        Parameters
        ----------
        counts, exposure : str
            Names of these columns.

        Returns
        -------
        DataFrame
            One row per entry of Ω or Ξ, in the order of the modes: a column of labels per mode,
            the counts (NaN: not counted), the exposure if any, and a column per attribute and
            per rate attribute that is none of these (NaN: outside Ξ).

        Raises
        ------
        ValueError
            If two columns would have the same name.

        Examples
        --------
        >>> y = CountTensor((2, 2), [[0, 1], [1, 0]], [3, 5], labels=[["a", "b"], ["x", "y"]])
        >>> y.to_frame()
          mode 1 mode 2  count
        0      a      y    3.0
        1      b      x    5.0
        """
        indices, y = self.entries()
        columns = [*self.label_columns(indices), (counts, y)]
        if self.exposure is not None:
            columns.append((exposure, self.exposure_at(indices)))
        rows = self.rows_of(indices)
        values = np.full((len(rows), len(self.all_attribute_names)), np.nan)
        values[rows >= 0] = self._all_attributes[rows[rows >= 0]]
        return frames.frame_of([*columns, *zip(self.all_attribute_names, values.T, strict=True)])

    def with_roles(
        self, *, detection: str | Sequence[str] | None = None, rate: str | Sequence[str] = ()
    ) -> Self:
        """Choose by name which attributes act on detection and which on the true rate.

        Parameters
        ----------
        detection : str or sequence of str, optional
            Names among `all_attribute_names`. None: those that have the role now.
        rate : str or sequence of str
            The same; a name may be in both. (): none acts on the rate, as in the paper.

        Returns
        -------
        CountTensor
            With the same counts. An attribute that is in neither is gone from it.

        Raises
        ------
        ValueError
            If a name is unknown or occurs twice.

        Examples
        --------
        >>> y = CountTensor((2, 2), [[0, 1], [1, 0]], [3, 5], attributes=[[0.1, 7], [0.9, 8]])
        >>> y.with_roles(detection=["z1"], rate=["z1", "z2"]).rate_attribute_names
        ('z1', 'z2')
        """
        names = self.all_attribute_names
        chosen = []
        for name, given in (("detection", detection), ("rate", rate)):
            wanted = self.attribute_names if given is None else as_names(given)
            check_among(wanted, names, f"{name} must name attributes of {names},")
            check_unique(wanted, f"{name} must hold distinct names")
            chosen.append(wanted)
        values = self._all_attributes
        z, x = (values[:, [names.index(each) for each in wanted]] for wanted in chosen)
        own = any(process.attributes is not None for process in self.observations)
        if own and chosen[0] != self.attribute_names:
            raise ValueError(
                "attributes of observation processes of their own keep their role, detection"
            )
        return self._with(
            attributes=z,
            attribute_names=chosen[0],
            rate_attributes=x,
            rate_attribute_names=chosen[1],
        )

    def with_detection_by(self, *modes: str) -> Self:
        """Give each level of a mode, such as each observer or visit, a p of its own.

        An entry without attributes, where others have some, keeps their mean p.

        Parameters
        ----------
        *modes : str
            Names of modes. Each level but the first adds an attribute of detection, 1 at its
            entries and 0 elsewhere: "observer Ann".

        Raises
        ------
        ValueError
            If a name is of no mode.

        Examples
        --------
        >>> y = CountTensor((2, 3), [[0, 1], [1, 2]], [3, 5], modes=["site", "observer"])
        >>> y.with_detection_by("observer").attribute_names
        ('observer: 1', 'observer: 2')
        """
        check_among(modes, self.modes, f"modes must be among {self.modes},")
        where = self.attribute_indices if len(self.attribute_indices) else self.indices
        columns, names = [self.attributes.reshape(len(where), -1)], list(self.attribute_names)
        for axis in map(self.modes.index, modes):
            levels = np.arange(1, self.shape[axis])
            columns.append((where[:, [axis]] == levels).astype(np.float64))
            names += [f"{self.modes[axis]}: {self.labels[axis][level]}" for level in levels]
        x = self.rate_attributes if self.rate_attributes.size else None
        return self._with(
            attributes=np.column_stack(columns),
            attribute_indices=where,
            attribute_names=names,
            rate_attributes=x,
        )

    def with_counts(self, counts: ArrayLike) -> Self:
        """Return a copy with other counts (N,) of the same entries, whose animals are unmarked."""
        return self._with(counts=counts, captures=None)

    def with_captures(self, captures: ArrayLike) -> Self:
        """The same counts, of marked animals that were caught so often; see `captures`."""
        return self._with(captures=captures)

    def with_protocol(self, protocol: Protocol) -> Self:
        """The same counts, of animals that the levels of one of two modes see by a protocol.

        Parameters
        ----------
        protocol : {"removal", "line transect", "point transect"}
            Removal: each visit, a level of the second mode, removes the animals that it counts.
            Visits may differ in effort, by an exposure that varies between them or by their
            labels, such as "0-3 min"; then p is that of the mean effort.
            Transects: the labels of a mode, such as "0-25" and "25-50", are bands of distance from
            a line or a point, where every animal is seen. Bands have a p each; other attributes
            of detection are left out.

        Raises
        ------
        ValueError
            If there are more than two modes, or no bands.

        Examples
        --------
        >>> y = CountTensor.from_dense([[5, 2], [3, 0]], labels=[["a", "b"], ["0-25", "25-50"]])
        >>> y.with_protocol("point transect").attribute_names
        ('mode 2: 25-50',)
        """
        found = self._with(protocol=protocol)
        if "transect" not in protocol:
            return found
        mode = found.closed_mode
        if mode is None:
            raise ValueError(
                f"a {protocol} needs a mode whose labels are bands of distance that adjoin, such "
                f"as 0-25 and 25-50, got {', '.join(self.labels[1][:3])}"
            )
        alone = found.with_roles(detection=(), rate=self.rate_attribute_names)
        return alone.with_detection_by(mode)

    @property
    def closed_mode(self) -> str | None:
        """The mode whose levels see the same animals: marked, removed or in bands; None: none."""
        if "transect" in self.protocol:
            pairs = zip(self.modes, self.labels, strict=True)
            return next((name for name, each in pairs if band_edges(each) is not None), None)
        return self.modes[1] if self.captures is not None or self.protocol else None

    def with_observations(self, *observations: Observations) -> Self:
        """The same counts with these further observation processes instead of any others."""
        return self._with(observations=observations)

    def with_groups(self, *groups: Group) -> Self:
        """The same counts with these groups instead of any others."""
        return self._with(groups=groups)

    def with_surveys(self, surveys: Sequence[Survey] | pd.DataFrame) -> Self:
        """The same counts with these surveys instead of any others.

        Parameters
        ----------
        surveys : sequence of Survey, or DataFrame
            Of a table, of pandas or polars, each row is a survey: columns "estimate",
            "standard_error" and maybe "of", "number" or "p"; and any modes or groups, whose cells
            hold a label, several with ";" between them, or "first to last". An empty cell stands
            for all levels.

        Raises
        ------
        ValueError
            If a survey names a label that the counts have not, or a number is none.

        Examples
        --------
        >>> y = CountTensor((2, 2), [[0, 1], [1, 0]], [3, 5], modes=["site", "week"])
        >>> table = pd.DataFrame({"site": ["1"], "estimate": [40], "standard_error": [6]})
        >>> y.with_surveys(table).surveys[0].where
        (('site', ('1',)),)
        """
        if not isinstance(surveys, Sequence):
            surveys = surveys_from_frame(
                pandas_of(surveys, "surveys, if no list,"), self.every_group
            )
        return self._with(surveys=surveys)

    @property
    def every_group(self) -> dict[str, Group]:
        """Groups by name, with each mode a group of its own."""
        return every_group(self.groups, self.modes, self.labels)

    def entries(self) -> tuple[IntArray, FloatArray]:
        """Entries of Ω or Ξ in the order of the modes (n, K), and their counts or NaN (n,)."""
        observed = flat_index(self.indices, self.shape)
        every = np.union1d(observed, flat_index(self.attribute_indices, self.shape))
        y = np.full(len(every), np.nan)
        y[np.searchsorted(every, observed)] = self.counts
        return np.column_stack(np.unravel_index(every, self.shape)), y

    def label_columns(self, indices: IntArray) -> list[tuple[str, pd.Index]]:
        """Name of each mode, and the labels (n,) of valid entries (n, K) as they were given."""
        return [
            (mode, labels.values[indices[:, k]])
            for k, (mode, labels) in enumerate(zip(self.modes, self.labels, strict=True))
        ]

    def __array__(self, *_: Any, **__: Any) -> FloatArray:
        """Say what to take instead: NumPy would make an array of one object."""
        raise TypeError(
            "a CountTensor is no array: take its counts, or to_frame(), whose rows can be divided"
        )

    def __repr__(self) -> str:
        size = " × ".join(str(size) for size in self.shape)
        return (
            f"CountTensor({size}, {self.n_observed:,} observed ({self.share_observed:.1%}), "
            f"{self.n_attributed:,} attributed, {self.n_attributes} attributes)"
        )

    @property
    def n_observed(self) -> int:
        """|Ω|, the number of entries with a count."""
        return len(self.indices)

    @property
    def n_attributed(self) -> int:
        """|Ξ|, the number of entries with attributes."""
        return len(self.attribute_indices)

    @property
    def n_attributes(self) -> int:
        """D, the number of attributes of an entry."""
        return int(self.attributes.shape[1])

    @property
    def all_attribute_names(self) -> tuple[str, ...]:
        """Names of all attributes, whatever they act on, each once."""
        return tuple(dict.fromkeys((*self.attribute_names, *self.rate_attribute_names)))

    @property
    def share_observed(self) -> float:
        """|Ω| over the number of entries, between 0 and 1."""
        return self.n_observed / float(np.prod([float(size) for size in self.shape]))

    @cached_property
    def attribute_rows(self) -> IntArray:
        """Row of `attributes` of each observed entry, -1 if it has none; (N,)."""
        return _frozen(self.rows_of(self.indices))

    @cached_property
    def seen_rows(self) -> IntArray:
        """Rows of Ξ in places (all modes but the last) with a count above 0; all where none has."""
        places, sizes = self.attribute_indices[:, :-1], self.shape[:-1]
        seen = flat_index(self.indices[self.counts > 0, :-1], sizes)
        inside = np.isin(flat_index(places, sizes), seen)
        return _frozen(np.flatnonzero(inside if inside.any() else ~inside))

    def rows_of(self, indices: IntArray) -> IntArray:
        """Row of `attributes` of each valid entry (n, K), -1 if it has none; (n,)."""
        return self._attributed.get_indexer(pd.Index(flat_index(indices, self.shape)))

    def exposure_at(self, indices: IntArray) -> FloatArray:
        """Exposure of valid entries (n, K), 1 if none was given; (n,)."""
        return exposure_at(self.exposure, indices)

    def attributes_at(self, indices: ArrayLike, *, unknown_as_nan: bool = False) -> FloatArray:
        """Attributes of the given entries.

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
            Any entries; repeats are allowed.
        unknown_as_nan : bool
            Return rows of NaN for entries outside Ξ, as :meth:`uncletc.Fit.expected` expects them,
            instead of rejecting them.

        Returns
        -------
        ndarray of float, shape (n, D)

        Raises
        ------
        ValueError
            If an entry lies outside the shape, or has no attributes and `unknown_as_nan` is False.
        """
        entries = check_indices(indices, self.shape, "indices")
        rows = self.rows_of(entries)
        unknown = rows < 0
        if unknown.any() and not unknown_as_nan:
            entry = tuple(entries[int(np.argmax(unknown))].tolist())
            raise ValueError(f"indices must be entries with attributes; entry {entry} has none")
        z = np.full((len(entries), self.n_attributes), np.nan)
        z[~unknown] = self.attributes[rows[~unknown]]
        return z

    def in_order(self) -> Self:
        """Sort Ω and Ξ by entry; return the same object if they are sorted."""
        observed = flat_index(self.indices, self.shape)
        attributed = flat_index(self.attribute_indices, self.shape)
        if (np.diff(observed) > 0).all() and (np.diff(attributed) > 0).all():
            return self
        return self._rows(np.argsort(observed), np.argsort(attributed))

    def subset(self, observed: ArrayLike) -> Self:
        """Keep some observed entries; the attributes of all entries stay.

        This is how entries are held out: their counts are dropped, their attributes remain. Animals
        are marked no more where visits to a site are kept in part.

        Parameters
        ----------
        observed : array_like of bool, shape (N,), or of int
            Mask over, or rows of, `indices` to keep.

        Examples
        --------
        >>> y = CountTensor((2, 2), [[0, 0], [0, 1], [1, 0]], [3, 5, 2])
        >>> y.subset(y.counts > 2).n_observed
        2
        """
        rows = np.asarray(observed)
        if rows.dtype != bool:
            rows = check_indices(rows.reshape(-1, 1), (self.n_observed,), "observed")[:, 0]
        elif rows.shape != (self.n_observed,):
            raise ValueError(
                f"observed must have shape ({self.n_observed},) when it is a mask, got {rows.shape}"
            )
        return self._rows(rows, slice(None))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all that a fit can see: shape, Ω, counts, Ξ, attributes, exposure."""
        names = self.attribute_names, self.rate_attribute_names  # signs are stated by name
        sha = hashlib.sha256(repr((_COUNTS_FORMAT, self.shape, names)).encode())
        for name in _ARRAYS:
            sha.update(np.ascontiguousarray(getattr(self, name)).data)
        if self.exposure is not None:
            sha.update(repr(self.exposure.shape).encode() + self.exposure.tobytes())
        for process in self.observations:
            errors = [process.known_error, *filter(None, [process.local_error])]
            sha.update(repr((len(process.counts), *errors)).encode())
            for each in (getattr(process, name) for name in _OBSERVATION_ARRAYS):
                sha.update(b"" if each is None else np.ascontiguousarray(each).data)
        for group in self.groups:
            sha.update(repr((group.name, group.modes, group.n_levels)).encode())
            sha.update(group.codes.tobytes())
            sha.update(b"" if group.positions is None else group.positions.tobytes())
        if self.surveys:
            sha.update(repr(self.surveys).encode())
        if self.captures is not None:
            sha.update(b"captures" + self.captures.tobytes())
        sha.update(self.protocol.encode())
        return sha.hexdigest()

    def save(self, path: PathOrFile, *, compressed: bool = True) -> None:
        """Write to an ``.npz`` file (no pickle), its path or opened; :meth:`load` reads it back."""
        write_packed(path, self, _COUNTS_FORMAT, compressed=compressed)

    @classmethod
    def load(cls, path: PathOrFile) -> Self:
        """Read what :meth:`save` wrote, validating it like any other input."""
        kinds = {kind.__name__: kind for kind in (cls, Labels, Observations, Group, Survey)}
        return read_packed(path, cls, _COUNTS_FORMAT, kinds)

    def _rows(self, observed: Any, attributed: Any) -> Self:
        captures = self.captures
        if captures is not None:
            sites, size = self.indices[:, 0], self.shape[0]
            left = np.bincount(sites[observed], minlength=size)
            part = (left > 0) & (left < np.bincount(sites, minlength=size))
            captures = None if part.any() else captures[left[captures[:, 0]] > 0]
        return self._with(
            indices=self.indices[observed],
            counts=self.counts[observed],
            attributes=self.attributes[attributed],
            rate_attributes=self.rate_attributes[attributed],
            attribute_indices=self.attribute_indices[attributed],
            captures=captures,
        )

    def _with(self, **changes: Any) -> Self:
        """Return the same with some arguments changed, of the types that the constructor takes."""
        return replace(self, **changes)

    @property
    def _all_attributes(self) -> FloatArray:
        """Values over Ξ of `all_attribute_names`; (S, ·)."""
        own = set(self.attribute_names)
        others = [j for j, name in enumerate(self.rate_attribute_names) if name not in own]
        return np.column_stack([self.attributes, self.rate_attributes[:, others]])

    @cached_property
    def _attributed(self) -> pd.Index:
        return pd.Index(flat_index(self.attribute_indices, self.shape))


def _frozen(array: NDArray[_T]) -> NDArray[_T]:
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy
