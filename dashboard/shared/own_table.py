"""A reader's own table: it belongs to one browser session, and no other session can reach it.

Whatever a page keeps of it stands in the session's state under a key that begins with `PREFIX`,
so that :func:`forget` finds all of it; widgets with such a key are not bound to the address.
"""

from __future__ import annotations

import json
import weakref
from dataclasses import dataclass, replace

import streamlit as st

from dashboard.shared.cache import LOOKED_AT, MADE
from dashboard.shared.charts.places import OWN, is_own
from dashboard.shared.fit_status.service import me, service
from dashboard.shared.memory import forget_all
from dashboard.shared.text.scripts import Code, call
from dashboard.shared.text.words import plural
from dashboard.work import keeping
from dashboard.work.keeping import Kept
from uncletc import CountTensor, datasets
from uncletc.datasets import Dataset
from uncletc.tables import Columns, RawTable, as_missing, build, with_entries

PREFIX = "own-"
RAW = f"{PREFIX}raw"  # the table as it was read, of which counts are made once more
NAME = "Your table"
_TABLE, _HELD = f"{PREFIX}table", f"{MADE}-held"
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
    if own_table() is not None and st.session_state.get(LOOKED_AT, False):
        st.session_state[key] = value
    elif st.session_state.get(key) == value:
        del st.session_state[key]  # left from a page before


def look_at_own(chosen: bool) -> None:
    """Remember whether the session looks at its own table, for the next page."""
    st.session_state[LOOKED_AT] = chosen


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


MINE = "mine"  # in the address
_TOKEN, _LOST, _ASKED = f"{PREFIX}token", "own-table-lost", f"{PREFIX}keep"


def restore() -> None:
    """Take up the table that the address names, once a run, before the page.

    One that was forgotten elsewhere is forgotten here too.
    """
    _expire()
    held: str | None = st.session_state.get(_TOKEN)
    if held is not None:
        if keeping.opened(held):
            _remember(held)
        else:
            forget_everywhere()
        return
    token = st.query_params.get(MINE)
    if token is None:
        return
    if own_table() is not None or not _take_up(token):
        del st.query_params[MINE]


def _take_up(token: str) -> bool:
    with st.spinner("Taking up your table …"):
        kept = keeping.load(token)
        if kept is None:
            st.session_state[_LOST] = True
            return False
        try:
            dataset = build(kept.raw, replace(kept.columns, missing=()))
            if kept.columns.missing:
                dataset = as_missing(dataset, kept.columns.missing)
        except ValueError:
            st.session_state[_LOST] = True
            return False
    put(OwnTable(dataset=dataset, columns=kept.columns, name=kept.raw.name, digest=kept.digest))
    st.session_state[RAW], st.session_state[_TOKEN] = kept.raw, token
    return True


def keep_toggle(table: OwnTable, raw: RawTable) -> None:
    """Ask whether to keep the table; keep what its columns are up to date."""
    token: str | None = st.session_state.get(_TOKEN)
    kept = Kept(raw=raw, columns=table.columns, digest=table.digest)
    st.session_state.setdefault(_ASKED, token is not None)
    wanted = st.toggle(
        "Keep it on this machine",
        key=_ASKED,
        help="On: the table and what its columns are stay in the cache folder of this machine, and "
        f"a reload or a restart finds them, until nobody has opened them for {_days()}. Off: they "
        "are deleted there, and go with this session.",
    )
    if wanted and token is None:
        try:
            st.session_state[_TOKEN] = token = keeping.keep(kept)
        except OSError as error:
            st.error(f"It cannot be kept: {error.strerror}.")
            return
        _remember(token)
    elif wanted and token is not None:
        keeping.keep_columns(token, kept)
    elif token is not None:
        _let_go(token)
    st.caption(
        "It is kept under a name that stands only in your address, `mine=…`: **who has that "
        f"address has the table**. *Forget it* deletes it, and so do {_days()} without a visit."
        if wanted
        else "It goes with this browser session; what is computed from it does too."
    )


def forget_everywhere() -> None:
    """Forget the table in this session and on this machine; for callbacks."""
    token: str | None = st.session_state.get(_TOKEN)
    forget()
    if token is not None:
        _let_go(token)


def say_if_lost() -> None:
    """Say once that the address named a table that is not kept here."""
    if st.session_state.pop(_LOST, False):
        st.warning(
            "The table that this address names is not on this machine any more. Bring it again.",
            icon=":material/search_off:",
        )


@st.cache_resource(ttl=86_400, show_spinner=False)
def _expire() -> int:
    """Delete tables that nobody opened for long; once a day."""
    return keeping.expire(service().limits.table_days)


def _days() -> str:
    return plural(round(service().limits.table_days) or 1, "day")


def _remember(token: str) -> None:
    if st.query_params.get(MINE) != token:
        st.query_params[MINE] = token


def _let_go(token: str) -> None:
    keeping.drop(token)
    st.session_state.pop(_TOKEN, None)
    if MINE in st.query_params:
        del st.query_params[MINE]
