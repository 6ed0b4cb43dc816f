"""A reader's own table: it belongs to one browser session, and no other session can reach it.

Whatever a page keeps of it stands in the session's state under a key that begins with `PREFIX`,
so that :func:`forget` finds all of it; widgets with such a key are not bound to the address.
"""

import weakref
from dataclasses import dataclass

import streamlit as st

from dashboard.shared.cache import FAMILY, MADE
from dashboard.shared.charts.places import OWN
from dashboard.shared.fit_status.service import service
from dashboard.work.tables import TableFile
from uncletc import CountTensor
from uncletc.datasets import Dataset
from uncletc.tables import Columns

PREFIX = "own-"
CLOSED = f"{MADE}-closed-chosen"  # the mode of closed-population visits; words of the table
CLOSED_WIDGET = f"{MADE}-closed"  # its widget, likewise: not in the address
NO = f"{PREFIX}answered-no"  # modes of which a reader said that they are no such visits
NAME = "Your table"
EDITED = f"{PREFIX}edited"  # the table of roles as it is drawn; not on other pages
_TABLE, _FILE, _HELD = f"{PREFIX}table", f"{PREFIX}file", f"{MADE}-held"
USUAL = "_usual"  # at the end of a key: the default with which that control was drawn last
ENTERED = "page-entered"  # whether this run is the first of its page; of the session's state


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
        Of the file, SHA-256: identifies the file.
    """

    dataset: Dataset
    columns: Columns
    name: str
    digest: str

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies its counts and its model: file, columns, surveys."""
        return self.digest, self.columns, self.dataset.counts.surveys


class _Held:
    """Counts for as long as the session has them: the service keeps them to itself until then."""

    def __init__(self, counts: CountTensor) -> None:
        self._names = service().own(counts)
        # Called by the garbage collector, maybe while this thread holds the service's lock.
        self._later = weakref.finalize(self, service().forget_later, self._names)
        self._later.atexit = False

    def end(self) -> None:
        """Have the service forget them now, once."""
        if self._later.detach():
            service().forget(self._names)


def own_table() -> OwnTable | None:
    """Return this session's table, None where it has none."""
    return st.session_state.get(_TABLE)


def table_file() -> TableFile | None:
    """Return the file of this session's table, None where it has none."""
    return st.session_state.get(_FILE)


def put(table: OwnTable) -> None:
    """Make this the session's table; drop what was made of another."""
    if (before := own_table()) is not None and before.key == table.key:
        return
    _drop(MADE)
    st.session_state[_TABLE] = table
    st.session_state[_HELD] = _Held(table.dataset.counts)
    st.session_state[FAMILY] = OWN


def forget(new: TableFile | None = None) -> None:
    """Drop the table, all that was made of it, and all that was asked of it, for another file."""
    if table_file() is not None:  # else what is asked may be the address's
        for key, usual in list(st.session_state.items()):
            if str(key).endswith(USUAL):
                st.session_state[str(key).removesuffix(USUAL)] = usual
    _drop(PREFIX)
    if new is not None:
        st.session_state[_FILE] = new


def _drop(prefix: str) -> None:
    held: _Held | None = st.session_state.get(_HELD)
    if held is not None:
        held.end()
    for key in [key for key in st.session_state if str(key).startswith(prefix)]:
        del st.session_state[key]


def own_or_stop() -> OwnTable:
    """Return this session's table; without one, say where to bring it and end the page."""
    table = own_table()
    if table is None:
        st.info(
            "There is no table of yours yet. Upload one, and every page works on it.",
            icon=":material/upload_file:",
        )
        st.page_link("table/page.py", label=f"**{NAME}**", icon=":material/table:")
        st.stop()
    return table
