"""Controls of *Your table*: its file, the role of each column, and what its rows mean."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import sleep
from uuid import uuid4

import pandas as pd
import streamlit as st

from dashboard.shared.own_table import EDITED, PREFIX, OwnTable, forget, own_table, table_file
from dashboard.shared.text.words import escape, escape_sentence, plural, read_words
from dashboard.table import roles
from dashboard.work.tables import TableFile, build_counts, is_quick, plain_name, read_table
from uncletc.tables import MOST_ROWS, SAME_ENTRY, Columns, ModeColumn, read_file
from uncletc.tables.columns import IN_SETTINGS, meaning_of
from uncletc.tables.histories import CAPTURES

_FAILED = f"{PREFIX}failed"
_ROUND = "upload-round"  # a new one empties the box for files
_SEEN = "upload-seen"  # what Streamlit calls the file that was read last
_POLL = 0.3  # seconds between two updates of the progress
_ROW = 35  # pixels
WORDS = read_words(__file__, "controls.toml")
_SURVEYS = f"{PREFIX}surveys"


def uploaded() -> TableFile | None:
    """Ask for a file; return that of this session, also after another page was shown."""
    box = st.file_uploader(
        "Your table",
        key=f"own_upload_{st.session_state.get(_ROUND, 0)}",
        help=WORDS["helps"]["file"].format(f"{MOST_ROWS / 1e6:.0f}"),
    )
    st.caption("Your file is kept for this session only; reloading the page removes it.")
    if box is not None and st.session_state.get(_SEEN) != box.file_id:
        _take(box.name, box.getvalue())
        st.session_state[_SEEN] = box.file_id
    if failed := st.session_state.get(_FAILED):
        st.error(f"This file cannot be read: {escape_sentence(failed)}", icon=":material/error:")
    file = table_file()
    if file is not None:
        rows, width = file.raw.frame.shape
        left, right = st.columns([5, 1], vertical_alignment="center")
        read = f", read as {plural(rows, 'row')} of {plural(width, 'column')}"
        left.caption(f"In use: {escape(file.raw.name)}{read * (CAPTURES not in file.raw.frame)}")
        right.button(
            "Forget it",
            key="own_forget",
            on_click=_forget,
            width="stretch",
            help="Removes it, and all that was made of it.",
        )
    return file


def _take(name: str, data: bytes) -> None:
    """Read a file; a change of the page meanwhile ends that."""
    name, digest = plain_name(name), hashlib.sha256(data).hexdigest()
    file = table_file()
    if file is not None and file.digest == digest:
        return
    st.session_state.pop(_FAILED, None)
    words = st.empty()

    def waiting(seconds: float) -> None:
        words.info(f"Reading {escape(name)} … {seconds:.0f} s", icon=":material/hourglass_top:")
        sleep(_POLL)

    try:
        raw, found = read_table(data, name, waiting)
    except ValueError as error:
        st.session_state[_FAILED] = str(error)
        return
    finally:
        words.empty()
    forget(TableFile(raw=raw, guess=found, digest=digest))


def _forget() -> None:
    forget()
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


@dataclass(frozen=True, eq=False)
class _Edit:
    """The table of roles that is edited, under its widget's key.

    Attributes
    ----------
    columns : Columns
        Before it is edited.
    shown : DataFrame
    key : str
        Never used before: a widget that is drawn again may show other edits than the server has.
    """

    columns: Columns
    shown: pd.DataFrame
    key: str = field(default_factory=lambda: f"{PREFIX}roles-{uuid4().hex}")


def own_of(file: TableFile) -> OwnTable | None:
    """Return the session's table if it is made of this file."""
    table = own_table()
    return table if table is not None and table.digest == file.digest else None


def choose_columns(file: TableFile) -> Columns:
    """Draw a table with a row for each column, whose role and options are chosen; return them."""
    table = own_of(file)
    edit: _Edit | None = st.session_state.get(EDITED)
    if edit is None:
        columns = file.guess.columns if table is None else table.columns
        edit = _Edit(columns, roles.role_table(file.raw.frame, columns, file.guess))
    st.session_state[EDITED] = edit
    choice, text = st.column_config.SelectboxColumn, st.column_config.TextColumn
    helps = WORDS["helps"]
    edited = st.data_editor(
        edit.shown,
        key=edit.key,
        placeholder="",
        hide_index=True,
        height=min(len(edit.shown) + 1, 12) * _ROW + 3,
        disabled=["column", "why"],
        column_order=["column", "role", "acts_on", "sign", "step", "why"],
        column_config={
            "column": text("Column", pinned=True),
            "role": choice(
                "Role",
                width=150,
                options=list(roles.ROLES.values()),
                required=True,
                help=helps["group"],
            ),
            "why": text("Why", width="large"),
            "acts_on": choice("Affects", options=[*roles.ACTS_ON.values()], help=helps["acts_on"]),
            "sign": choice("Effect on p", options=[*roles.SIGNS.values(), roles.CATEGORY]),
            "step": choice("Dates of a mode", options=list(roles.STEPS.values())),
        },
    )
    if not edited["role"].equals(edit.shown["role"]):
        guessed = roles.role_table(file.raw.frame, file.guess.columns, file.guess)
        st.session_state[EDITED] = _Edit(edit.columns, roles.resolved(edited, edit.shown, guessed))
        st.rerun()
    across_mode = edit.columns.across_mode or ModeColumn(column="series")
    if (edited["role"] == roles.ROLES["across"]).any():
        name = st.text_input(
            "Columns with counts are levels of",
            across_mode.column,
            max_chars=60,
            key=f"{PREFIX}across-name-{file.digest[:8]}",
            help="The name of this mode, such as species or date.",
        )
        across_mode = replace(across_mode, column=name.strip() or across_mode.column)
    return roles.columns_of(edited, file.raw.frame, edit.columns, across_mode)


def table_of(file: TableFile, columns: Columns) -> OwnTable | None:
    """Return the table with these columns; say why where they cannot be used.

    Below stand questions on its rows; their answers are read first, from what they were before.
    """
    if sentence := roles.lacking(columns):
        st.info(sentence, icon=":material/touch_app:")
        return None
    table, error = own_of(file), ""
    usual = file.guess.columns if table is None else table.columns

    def key(name: str) -> str:
        return f"{PREFIX}{name}-{file.digest[:8]}"

    usual_rows = "sum" if usual.duplicates == "refuse" else usual.duplicates
    coarser = any(each.step for each in columns.all_modes)  # its rows are parts of one count
    kinds = [it.column for it in columns.all_modes if meaning_of(it.column, number=False) == "kind"]
    absences = WORDS["absent"] | {it: f"0 where another {escape(it)} has a count" for it in kinds}
    if st.session_state.setdefault(key("absent"), usual.absent) not in absences:
        st.session_state[key("absent")] = "missing"
    columns = replace(
        columns,
        duplicates="sum" if coarser else st.session_state.setdefault(key("duplicates"), usual_rows),
        absent=st.session_state[key("absent")],
        protocol=st.session_state.setdefault(key("protocol"), usual.protocol),
    )
    columns = roles.with_levels_of(columns, usual)
    if table is None or table.columns != columns:
        with st.spinner("Making counts of it …"):
            try:
                made = build_counts(file, columns)
                table = OwnTable(
                    dataset=made, columns=columns, name=file.raw.name, digest=file.digest
                )
            except ValueError as problem:
                error = str(problem).partition(IN_SETTINGS)[0]
    rules = () if error or table is None else table.dataset.provenance.rules
    asked: dict[str, tuple[str, Mapping[str, str]]] = {}
    if not coarser and any(SAME_ENTRY in each for each in (*rules, error)):
        asked["duplicates"] = f"Some rows {SAME_ENTRY}. They are", WORDS["duplicates"]
    else:  # a widget that is not drawn leaves no value behind
        st.session_state[key("duplicates")] = "sum"
    gap = "An empty cell" if columns.across else "A combination without a row"
    asked["absent"] = f"{gap} means", absences
    if CAPTURES not in file.raw.frame.columns:
        asked["protocol"] = "Sampling protocol", WORDS["protocols"]
    for where, (name, (label, options)) in zip(st.columns(len(asked)), asked.items(), strict=True):
        where.radio(label, list(options), format_func=options.__getitem__, key=key(name))
    if error:
        st.error(f"These columns cannot be used: {escape_sentence(error)}", icon=":material/error:")
        return None
    return table


def with_surveys(table: OwnTable) -> OwnTable:
    """Ask for surveys; return the table with them, and say why where they cannot be used."""
    kept: tuple[str, pd.DataFrame] | None = st.session_state.get(_SURVEYS)
    counts, error = table.dataset.counts, ""
    with st.expander(WORDS["box"], kept is not None, key=f"{_SURVEYS}-box", on_change="rerun"):
        seen, key = f"{_SURVEYS}-seen", f"{_SURVEYS}-{st.session_state.get(_ROUND, 0)}"
        box = st.file_uploader("Surveys", key=f"{key}-{table.digest[:8]}", help=WORDS["surveys"])
        if box is not None and st.session_state.get(seen) != box.file_id:
            st.session_state[seen], kept = box.file_id, None
            try:
                if not is_quick(box.getvalue()):
                    raise ValueError("surveys must be a small table")
                read = read_file(box.getvalue(), plain_name(box.name)).frame.to_pandas()
                kept = plain_name(box.name), read
            except ValueError as problem:
                error = str(problem)
            st.session_state[_SURVEYS] = kept
        try:
            surveys = () if kept is None else counts.with_surveys(kept[1]).surveys
        except ValueError as problem:
            surveys, error = (), str(problem)
        if kept is not None:
            left, right = st.columns([5, 1], vertical_alignment="center")
            left.caption(f"In use: {len(surveys)} of {escape(kept[0])}")
            right.button("Remove", key="own_no_surveys", on_click=_remove_surveys, width="stretch")
    if error:  # not in the box, which may fold itself
        words = f"These surveys cannot be used: {escape_sentence(error)}"
        st.error(words, icon=":material/error:")
    if surveys == counts.surveys:
        return table
    given = replace(table.dataset, counts=counts.with_surveys(surveys))
    return replace(table, dataset=given)


def _remove_surveys() -> None:
    st.session_state.pop(_SURVEYS, None)
