"""A reader's own table: it belongs to one browser session, and no other session can reach it.

Whatever a page keeps of it stands in the session's state under a key that begins with `PREFIX`,
so that :func:`forget` finds all of it; widgets with such a key are not bound to the address.
"""

from __future__ import annotations

import json
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import streamlit as st

from dashboard.shared.charts.places import OWN, is_own
from dashboard.shared.fit_status.memory import forget_all
from dashboard.shared.fit_status.service import me, service
from dashboard.shared.text.scripts import Code, call
from uncletc import CountTensor, datasets
from uncletc.datasets import Dataset
from uncletc.tables import Columns, with_entries

PREFIX = "own-"
MADE = f"{PREFIX}made"  # keys that begin with it hold what was made of a table with its columns
RAW = f"{PREFIX}raw"  # the table as it was read, of which counts are made once more
NAME = "Your table"
_TABLE, _HELD, _KEPT = f"{PREFIX}table", f"{MADE}-held", f"{MADE}-kept"
ENTERED = "page-entered"  # whether this run is the first of its page; of the session's state
_CHOSEN = "own-chosen"  # whether this session looks at its own table
_MOST_MADE = 60
_COUNTS_A_LEVEL = 8
_MANY_COUNTS = 20_000
_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False, kw_only=True)
class OwnTable:
    """A reader's own table as data set.

    Attributes
    ----------
    dataset : Dataset
        Its name is "own".
    columns : Columns
        What its columns are.
    name : str
        Of the file.
    digest : str
        Of the file, SHA-256: tells files apart.
    """

    dataset: Dataset
    columns: Columns
    name: str
    digest: str

    @property
    def whole(self) -> OwnTable:
        """The same, its entries having attributes, if only none."""
        counts = with_entries(self.dataset.counts)
        return replace(self, dataset=replace(self.dataset, counts=counts))

    @property
    def code(self) -> Code:
        """The code that reads the file so."""
        said = f"tables.Columns.from_dict({self.columns.as_dict()})"
        name = json.dumps(self.name, ensure_ascii=False)
        return Code(
            f"tables.build(tables.read_file({name}), {said})", frozenset({("uncletc", "tables")})
        )


class _Held:
    """Counts for as long as the session has them: the service keeps them to itself until then."""

    def __init__(self, counts: CountTensor) -> None:
        service().own(counts, me())
        self.end = weakref.finalize(self, service().forget, counts, me())
        self.end.atexit = False


def own_table() -> OwnTable | None:
    """Return this session's table, None where it has none."""
    table: OwnTable | None = st.session_state.get(_TABLE)
    return table


def put(table: OwnTable) -> None:
    """Make this the session's table, and drop what was made of another."""
    before = own_table()
    if before is not None and (before.digest, before.columns) == (table.digest, table.columns):
        return
    _drop(MADE)
    st.session_state[_TABLE] = whole = table.whole
    st.session_state[_HELD] = _Held(whole.dataset.counts)
    look_at_own(True)


def forget() -> None:
    """Drop the table, all that was made of it, and all that was asked of it."""
    _drop(PREFIX)


def _drop(prefix: str) -> None:
    held: _Held | None = st.session_state.get(_HELD)
    if held is not None:
        held.end()
    for key in [key for key in st.session_state if str(key).startswith(prefix)]:
        del st.session_state[key]
    if held is not None:
        forget_all()


def own_or_link() -> OwnTable | None:
    """Return this session's table; without one, say where to bring it."""
    table = own_table()
    if table is None:
        st.info(
            "There is no table of yours yet. Bring one, say what its columns are, and every page "
            "works on it.",
            icon=":material/upload_file:",
        )
        st.page_link("table/page.py", label=f"**{NAME}**", icon=":material/table:")
    return table


def keep_own(key: str, value: str) -> None:
    """Let a choice of data set be the reader's own table on a page that was just opened.

    So it is where the page before showed it, and the address asks for nothing else.
    """
    if not st.session_state.get(ENTERED, True) or key in st.query_params:
        return
    if own_table() is not None and st.session_state.get(_CHOSEN, False):
        st.session_state[key] = value
    elif st.session_state.get(key) == value:
        del st.session_state[key]  # left from a page before


def look_at_own(chosen: bool) -> None:
    """Remember whether the session looks at its own table, for the next page."""
    st.session_state[_CHOSEN] = chosen


def looked_at() -> bool:
    """Whether the session looks at its own table, or did on the page before."""
    chosen: bool = st.session_state.get(_CHOSEN, False)
    return chosen


def made(name: str, key: Hashable, build: Callable[[], _Made]) -> _Made:
    """Return what was made of the table before, or make it now; for this session alone."""
    kept: OrderedDict[Any, Any] = st.session_state.setdefault(_KEPT, OrderedDict())
    if (name, key) not in kept:
        kept[name, key] = build()
    kept.move_to_end((name, key))
    while len(kept) > _MOST_MADE:
        kept.popitem(last=False)
    found: _Made = kept[name, key]
    return found


def code_of(dataset: Dataset) -> Code:
    """The code that loads a data set."""
    table = own_table()
    if is_own(dataset) and table is not None:
        return table.code
    return call(datasets.load, OWN if is_own(dataset) else dataset.name)


def state_key(dataset: Dataset, name: str) -> str:
    """Key in the session's state of what a page keeps of a data set."""
    return f"{MADE}-{name}-{dataset.name}" if is_own(dataset) else f"{name}-{dataset.name}"


def rank_for(counts: CountTensor) -> int:
    """A rank that counts of this size can bear: 1 to 10, one pattern for each eight counts a level.

    Examples
    --------
    >>> from uncletc import simulate
    >>> rank_for(simulate((30, 40, 12), 2, observed=0.3, attributed=0.1, seed=1)[0])
    5
    """
    most = 10 if counts.n_observed > _MANY_COUNTS else 5
    return max(1, min(most, counts.n_observed // (_COUNTS_A_LEVEL * sum(counts.shape))))
