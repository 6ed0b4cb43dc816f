"""Controls of a reader's own table: the role of each column, and what its rows mean."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from dashboard.shared.own_table import PREFIX, OwnTable, TableFile, own_table
from dashboard.shared.text.words import escape_sentence
from dashboard.table.roles import (
    ACTS_ON,
    CATEGORY,
    ROLES,
    SIGNS,
    STEPS,
    columns_of,
    lacking,
    resolved,
    role_table,
    with_levels_of,
)
from dashboard.work.tables import build_counts
from uncletc.tables import Columns, ModeColumn

_EDITED, _REPEATED = f"{PREFIX}edited", f"{PREFIX}repeated"
_ROW = 35  # pixels
_DUPLICATES = {
    "sum": "parts of one count: sum them",
    "observations": "several observations of the same true events",
    "refuse": "a mistake: use none of it",
}
_ABSENT = {"missing": "nobody looked: missing", "zero": "nothing was seen: 0"}


@dataclass(frozen=True, eq=False)
class _Edit:
    """The table of roles that is edited, under its widget's key.

    Attributes
    ----------
    key : str
    columns : Columns
        Before it is edited.
    shown : DataFrame
    is_new : bool
        Whether the widget was not drawn yet.
    """

    key: str
    columns: Columns
    shown: pd.DataFrame
    is_new: bool = True


def own_of(file: TableFile) -> OwnTable | None:
    """Return the session's table if it is made of this file."""
    table = own_table()
    return table if table is not None and table.digest == file.digest else None


def choose_columns(file: TableFile) -> Columns:
    """Draw a table with a row for each column, whose role and options are chosen; return them."""
    table = own_of(file)
    edit: _Edit | None = st.session_state.get(_EDITED)
    if edit is None or not (edit.is_new or edit.key in st.session_state):  # or another page since
        columns = file.guess.columns if table is None else table.columns
        shown = role_table(file.raw.frame, columns, file.guess.reasons)
        edit = _Edit(f"{PREFIX}roles-{file.digest[:8]}-0", columns, shown)
    st.session_state[_EDITED] = replace(edit, is_new=False)
    choice, text = st.column_config.SelectboxColumn, st.column_config.TextColumn
    edited = st.data_editor(
        edit.shown,
        key=edit.key,
        hide_index=True,
        height=min(len(edit.shown) + 1, 12) * _ROW + 3,
        disabled=["column", "why"],
        column_order=["column", "role", "acts_on", "sign", "step", "most", "why"],
        column_config={
            "column": text("Column", pinned=True),
            "role": choice("Role", options=list(ROLES.values()), required=True),
            "why": text("Why it was guessed", width="large"),
            "acts_on": choice(
                "Attribute acts on",
                options=list(ACTS_ON.values()),
                help="Detection: how likely a true event is counted. True counts: how many "
                "there are.",
            ),
            "sign": choice("p goes with it", options=[*SIGNS.values(), CATEGORY]),
            "step": choice("Dates of a mode", options=list(STEPS.values())),
            "most": st.column_config.NumberColumn(
                "Most active levels",
                min_value=1,
                step=1,
                help="Keep so many levels of a mode, those with most counted events. Empty: all.",
            ),
        },
    )
    new = resolved(edited, edit.shown)
    if not new["role"].equals(edited["role"]):  # drawn again under another key
        st.session_state[_EDITED] = replace(edit, key=f"{edit.key}+", shown=new, is_new=True)
        st.rerun()
    across_mode = edit.columns.across_mode or ModeColumn(column="series")
    if (new["role"] == ROLES["across"]).any():
        across_mode = _across(file, across_mode)
    return columns_of(new, file.raw.frame, edit.columns, across_mode)


def _across(file: TableFile, usual: ModeColumn) -> ModeColumn:
    """The mode that the columns of counts are levels of."""
    left, right = st.columns(2)
    name = left.text_input(
        "Columns with counts are levels of",
        usual.column,
        max_chars=60,
        key=f"{PREFIX}across-name-{file.digest[:8]}",
        help="The name of this mode, such as species or date.",
    )
    step = right.selectbox(
        "Dates among them",
        list(STEPS),
        list(STEPS).index(usual.step),
        format_func=lambda step: STEPS[step],
        key=f"{PREFIX}across-step-{file.digest[:8]}",
        help="What one level is. Counts of one level are summed.",
    )
    return replace(usual, column=name.strip() or usual.column, step=step)


def table_of(file: TableFile, columns: Columns) -> OwnTable | None:
    """Return the table with these columns; say why where they cannot be used."""
    if sentence := lacking(columns):
        st.info(sentence, icon=":material/touch_app:")
        return None
    table, error = own_of(file), ""
    usual = file.guess.columns if table is None else table.columns
    keys = {name: f"{PREFIX}{name}-{file.digest[:8]}" for name in ("duplicates", "absent")}
    usual_rows = "sum" if usual.duplicates == "refuse" else usual.duplicates
    columns = replace(
        columns,
        duplicates=st.session_state.setdefault(keys["duplicates"], usual_rows),
        absent=st.session_state.setdefault(keys["absent"], usual.absent),
    )
    columns = with_levels_of(columns, usual)
    if table is None or table.columns != columns:
        with st.spinner("Making counts of it …"):
            made = build_counts(file.raw, columns)
        st.session_state[_REPEATED], error = made.repeated, made.error
        if made.dataset is not None:
            table = OwnTable(
                dataset=made.dataset, columns=columns, name=file.name, digest=file.digest
            )
    repeated = st.session_state.get(_REPEATED, 0)
    asked = [("A combination without a row means", _ABSENT, keys["absent"])]
    if repeated:
        words = f"{repeated:,} rows name an entry that another row names too. They are"
        asked.insert(0, (words, _DUPLICATES, keys["duplicates"]))
    else:  # a widget that is not drawn leaves no value behind
        st.session_state[keys["duplicates"]] = "sum"
    for where, (label, options, key) in zip(st.columns(2), asked, strict=False):
        where.radio(label, list(options), format_func=options.__getitem__, key=key)
    if error:
        st.error(f"These columns cannot be used: {escape_sentence(error)}", icon=":material/error:")
        return None
    return table
