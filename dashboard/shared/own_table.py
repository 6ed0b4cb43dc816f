"""A reader's own table: it belongs to one browser session, and no other session can reach it.

Whatever a page keeps of it stands in the session's state under a key that begins with `PREFIX`,
so that :func:`forget` finds all of it; widgets with such a key are not bound to the address.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st

from dashboard.server.signin import user
from dashboard.shared.cache import FAMILY, MADE
from dashboard.shared.charts.places import OWN, is_own
from dashboard.shared.fit_status.service import service
from dashboard.shared.memory import forget_all
from dashboard.shared.text.words import plural
from dashboard.work import table_files
from dashboard.work.results import trouble
from dashboard.work.table_files import SavedTable, TableFile
from dashboard.work.tables import build_counts
from uncletc import CountTensor
from uncletc.datasets import Dataset
from uncletc.tables import Columns, with_entries

PREFIX = "own-"
CLOSED = f"{MADE}-closed-chosen"  # the mode of closed-population visits; words of the table
NAME = "Your table"
_TABLE, _FILE, _HELD = f"{PREFIX}table", f"{PREFIX}file", f"{MADE}-held"
ENTERED = "page-entered"  # whether this run is the first of its page; of the session's state
_COUNTS_A_LEVEL = 8
_MANY_COUNTS = 20_000


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
    def whole(self) -> OwnTable:
        """The same, its entries having attributes, if only none."""
        counts = with_entries(self.dataset.counts)
        return replace(self, dataset=replace(self.dataset, counts=counts))


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
    table: OwnTable | None = st.session_state.get(_TABLE)
    return table


def table_file() -> TableFile | None:
    """Return the file of this session's table, None where it has none."""
    file: TableFile | None = st.session_state.get(_FILE)
    return file


def put_file(file: TableFile) -> None:
    """Make this the session's file."""
    st.session_state[_FILE] = file


def put(table: OwnTable) -> None:
    """Make this the session's table, and drop what was made of another."""
    before = own_table()
    if before is not None and (before.digest, before.columns) == (table.digest, table.columns):
        return
    _drop(MADE)
    st.session_state[_TABLE] = whole = table.whole
    st.session_state[_HELD] = _Held(whole.dataset.counts)
    st.session_state[FAMILY] = OWN


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
            "There is no table of yours yet. Upload one, and every page works on it.",
            icon=":material/upload_file:",
        )
        st.page_link("table/page.py", label=f"**{NAME}**", icon=":material/table:")
    return table


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


MINE = "mine"  # in the address
_NAME, _SAVED, _ASKED = f"{PREFIX}saved-name", f"{PREFIX}saved", f"{PREFIX}save"


def restore() -> None:
    """Load the saved table that the address names, once a run, before the page; say if it is gone.

    One that was forgotten elsewhere is forgotten here too.
    """
    _expire()
    saved: str | None = st.session_state.get(_NAME)
    asked = st.query_params.get(MINE)
    gone = saved is not None and not table_files.opened(saved)
    if gone:
        forget_everywhere()
    elif saved is not None:
        _put_in_address(saved)
    elif asked is not None and own_table() is not None:
        del st.query_params[MINE]
    elif asked is not None and not _load(asked):
        del st.query_params[MINE]
        gone = True
    if gone:
        st.warning(
            "This saved table has expired, was deleted, or is not yours. Upload it again.",
            icon=":material/search_off:",
        )


def _load(name: str) -> bool:
    with st.spinner("Loading your table …"):
        saved = table_files.load(name, user())
        built = None if saved is None else build_counts(saved.file.raw, saved.columns)
    if saved is None or built is None or built.dataset is None:
        return False
    file, columns, closed = saved
    put(OwnTable(dataset=built.dataset, columns=columns, name=file.name, digest=file.digest))
    put_file(file)
    st.session_state[CLOSED] = closed
    st.session_state[_NAME] = name
    return True


def save_toggle(file: TableFile) -> None:
    """Ask whether to save the session's table on this machine."""
    name: str | None = st.session_state.get(_NAME)
    st.session_state.setdefault(_ASKED, name is not None)
    wanted = st.toggle(
        "Keep it on this machine",
        key=_ASKED,
        help="On: the table stays in the cache folder of this machine, also after a reload, until "
        f"nobody has opened it for {_days()}. Off: it is deleted there.",
    )
    if wanted and name is None:
        limit = 1e9 * service().limits.disk_gb
        try:
            name = table_files.save(_to_save(file), user(), most_bytes=limit)
        except OSError as error:
            st.error(f"It cannot be kept: {trouble(error)}.")
            return
        st.session_state[_NAME] = name
        _put_in_address(name)
    elif name is not None and not wanted:
        _delete(name)
    update_saved()
    who = "it opens for you alone" if user() else "who has that address has the table"
    st.caption(
        f"Its name is only in your address, `mine=…`: **{who}**. *Forget it* deletes it."
        if wanted
        else "It goes with this browser session; what is computed from it does too."
    )


def update_saved() -> None:
    """Write the columns and the closed visits of a saved table where they have changed."""
    name, table, file = st.session_state.get(_NAME), own_table(), table_file()
    if name is None or table is None or file is None:
        return
    now = (table.columns, st.session_state.get(CLOSED, ""))
    if st.session_state.get(_SAVED) != now and table_files.opened(name):
        with suppress(OSError):
            table_files.save(_to_save(file), user(), name)
        st.session_state[_SAVED] = now


def _to_save(file: TableFile) -> SavedTable:
    table = own_table()
    columns = file.guess.columns if table is None else table.columns
    return SavedTable(file, columns, st.session_state.get(CLOSED, ""))


def forget_everywhere() -> None:
    """Forget the table in this session and on this machine; for callbacks."""
    name: str | None = st.session_state.get(_NAME)
    forget()
    if name is not None:
        _delete(name)


@st.cache_resource(ttl=86_400, show_spinner=False)
def _expire() -> int:
    """Delete tables that nobody opened for long; once a day."""
    return table_files.expire(service().limits.table_days)


def _days() -> str:
    return plural(round(service().limits.table_days) or 1, "day")


def _put_in_address(name: str) -> None:
    if st.query_params.get(MINE) != name:
        st.query_params[MINE] = name


def _delete(name: str) -> None:
    table_files.drop(name)
    st.session_state.pop(_NAME, None)
    st.session_state.pop(_SAVED, None)
    if MINE in st.query_params:
        del st.query_params[MINE]
