"""A reader's own table: it belongs to one browser session, and no other session can reach it.

Whatever a page keeps of it stands in the session's state under a key that begins with `PREFIX`,
so that :func:`forget` finds all of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import streamlit as st

from dashboard.shared.scripts import Code
from dashboard.shared.service import session
from uncletc.datasets import Dataset
from uncletc.tables import Columns

PREFIX = "own-"
NAME = "Your table"
_TABLE, _DIGESTS = f"{PREFIX}table", f"{PREFIX}digests"
_PARTS = ("fit", "whatif", "sweep", "ranks", "methods", "gain", "plan")  # that ask for work on it


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
    def code(self) -> Code:
        """The code that reads the file so."""
        said = f"tables.Columns.from_dict({self.columns.as_dict()})"
        name = json.dumps(self.name, ensure_ascii=False)
        return Code(
            f"tables.build(tables.read_file({name}), {said})", frozenset({("uncletc", "tables")})
        )


def own_table() -> OwnTable | None:
    """Return this session's table, None where it has none."""
    table: OwnTable | None = st.session_state.get(_TABLE)
    return table


def put(table: OwnTable) -> None:
    """Make this the session's table."""
    st.session_state[_TABLE] = table
    st.session_state.setdefault(_DIGESTS, set()).add(table.dataset.counts.digest)


def forget() -> None:
    """Drop the table, all that was made of it, and all that was asked of it."""
    digests = st.session_state.get(_DIGESTS, set())
    for key in [key for key in st.session_state if str(key).startswith(PREFIX)]:
        del st.session_state[key]
    for part in _PARTS:
        mine = session(part)
        for digest in digests:
            mine.service.forget(digest, mine.watcher)


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
