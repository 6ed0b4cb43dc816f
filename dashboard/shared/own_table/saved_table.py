"""A reader's own table kept on this machine, by choice: it survives a reload and a restart."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard.shared.fit_status.service import service
from dashboard.shared.own_table.own import PREFIX, RAW, OwnTable, forget, own_table, put
from dashboard.shared.text.words import plural
from dashboard.work import keeping
from dashboard.work.keeping import Kept
from uncletc.tables import RawTable, as_missing, build

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
