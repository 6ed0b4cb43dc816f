"""Controls of the role of each column of a reader's own table, with the reasons of the guess."""

from __future__ import annotations

from dataclasses import replace
from html import escape as as_html

import polars as pl
import streamlit as st

from dashboard.shared.own_table import PREFIX, TableFile, own_table
from dashboard.shared.text.words import escape
from dashboard.table.roles import (
    ACTS_ON,
    ONE_ONLY,
    ROLES,
    SIGNS,
    STEPS,
    ColumnRole,
    Role,
    block_of,
    columns_of,
    role_of,
)
from uncletc.tables import AttributeColumn, Columns, ModeColumn

_MOST_CONTROLS = 60
_BLOCK = "block"
_FIRST, _LEFT_OUT = f"{PREFIX}first", f"{PREFIX}left-out"


def choose_columns(file: TableFile) -> Columns:
    """Draw one control for each column, those that are used first; return the columns."""
    first = _first(file)
    block = block_of(file.guess.columns)
    names = [name for name in file.raw.frame.columns if name not in block]
    used = [name for name in names if _role(file, name, first) != "out"]
    rest = [name for name in names if name not in used]
    # The box below keeps its place and its label, and so stays open, when a role changes.
    above = st.container()
    st.session_state.setdefault(_LEFT_OUT, len(used) < 3)
    with st.expander("Columns that are left out, with reasons", key=_LEFT_OUT, on_change="rerun"):
        roles = {name: _row(file, name, first) for name in rest[:_MOST_CONTROLS]}
        others = rest[_MOST_CONTROLS:]
        if others:
            st.caption(f"Left out as well: {', '.join(map(escape, others[:200]))}.")
        if not rest:
            st.caption("None.")
    across_mode = first.across_mode or ModeColumn(column="series")
    with above:
        roles |= {name: _row(file, name, first) for name in used}
        if block:
            roles |= _block(file, block, first)
        if any(each.role == "across" for each in roles.values()):
            across_mode = _across(file, across_mode)
    ordered = {name: roles[name] for name in file.raw.frame.columns if name in roles}
    return columns_of(ordered, first, across_mode)


def _first(file: TableFile) -> Columns:
    """The columns when a file's controls are drawn first: as used before, or as guessed."""
    kept = st.session_state.get(_FIRST)
    prefix = f"{PREFIX}role-{file.digest[:8]}-"
    drawn = any(str(key).startswith(prefix) for key in st.session_state)
    if kept is None or kept[0] != file.digest or not drawn:  # another page was shown since
        before = own_table()
        mine = before is not None and before.digest == file.digest
        columns = before.columns if before is not None and mine else file.guess.columns
        kept = st.session_state[_FIRST] = (file.digest, columns)
    first: Columns = kept[1]
    return first


def _key(file: TableFile, name: str, what: str) -> str:
    """Key of a widget: it belongs to one file, and so not into the address."""
    place = file.raw.frame.columns.index(name) if name in file.raw.frame.columns else name
    return f"{PREFIX}{what}-{file.digest[:8]}-{place}"


def _is_text(file: TableFile, name: str) -> bool:
    return file.raw.frame.schema[name] in (pl.String, pl.Categorical)


def _role(file: TableFile, name: str, first: Columns) -> Role:
    """The role of a column as its control has it now."""
    role: Role = st.session_state.get(_key(file, name, "role"), role_of(first, name).role)
    return role


def _changed(file: TableFile, name: str, first: Columns) -> None:
    """Leave out another column that had a role which only one can have."""
    role = _role(file, name, first)
    for other in file.raw.frame.columns if role in ONE_ONLY else ():
        if other != name and _role(file, other, first) == role:
            st.session_state[_key(file, other, "role")] = "out"


def _row(file: TableFile, name: str, first: Columns) -> ColumnRole:
    """The control of one column, with its reason, and the options of its role."""
    usual = role_of(first, name, is_text=_is_text(file, name))
    left, middle, right = st.columns([4, 3, 5], vertical_alignment="bottom")
    key = _key(file, name, "role")
    st.session_state.setdefault(key, usual.role)
    role: Role = middle.selectbox(
        f"Role of {escape(name)}",
        list(ROLES),
        format_func=lambda role: ROLES[role],
        key=key,
        on_change=_changed,
        args=(file, name, first),
        label_visibility="collapsed",
    )
    guessed = role_of(file.guess.columns, name).role
    reason = file.guess.reasons.get(name, "")
    left.html(_about(name, reason if role == guessed else f"{ROLES[role]}, as you chose."))
    chosen = replace(usual, role=role)
    with right:
        if role == "mode":
            return replace(chosen, mode=_mode(file, name, usual.mode))
        if role == "attribute":
            return replace(chosen, attribute=_attribute(file, name, usual.attribute))
    return chosen


def _about(name: str, reason: str) -> str:
    return (
        f'<strong>{as_html(name)}</strong><div style="font-size: .875rem">{as_html(reason)}</div>'
    )


def _mode(file: TableFile, name: str, usual: ModeColumn) -> ModeColumn:
    column = file.raw.frame.get_column(name)
    n = column.n_unique()
    left, right = st.columns(2)
    step, most = None, None
    if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        with left:
            step = _step(_key(file, name, "step"), usual)
    if n > 2:
        most = right.number_input(
            "Most active",
            1,
            max(n, usual.most or 0),
            usual.most,
            placeholder="all",
            key=_key(file, name, "most"),
            help=f"Keep so many of {n:,} levels, those with most counted events. Empty: all.",
        )
    return ModeColumn(column=name, step=step, most=most)


def _step(key: str, usual: ModeColumn) -> str | None:
    step: str = st.selectbox(
        "Dates",
        list(STEPS),
        list(STEPS).index(usual.step or ""),
        format_func=lambda step: STEPS[step],
        key=key,
        help="What one level is. Counts of one level are summed.",
    )
    return step or None


def _attribute(file: TableFile, name: str, usual: AttributeColumn) -> AttributeColumn:
    left, right = st.columns(2)
    acts_on = left.selectbox(
        "Acts on",
        list(ACTS_ON),
        list(ACTS_ON).index(usual.acts_on),
        format_func=lambda acts_on: ACTS_ON[acts_on],
        key=_key(file, name, "acts"),
        help="Detection: how likely a true event is counted. True counts: how many there are.",
    )
    if _is_text(file, name):
        right.caption("Names without order: each is an attribute of its own.")
        return AttributeColumn(column=name, acts_on=acts_on, category=True)
    options = {str(sign): words for sign, words in SIGNS.items()}
    options["category"] = "names without order"
    kind = right.selectbox(
        "p goes with it",
        list(options),
        list(options).index("category" if usual.category else str(usual.sign)),
        format_func=lambda kind: options[kind],
        key=_key(file, name, "sign"),
        disabled=acts_on == "rate",
    )
    if kind == "category":
        return AttributeColumn(column=name, acts_on=acts_on, category=True)
    return AttributeColumn(column=name, acts_on=acts_on, sign=int(kind))


def _block(file: TableFile, block: tuple[str, ...], first: Columns) -> dict[str, ColumnRole]:
    """One control for many columns of counts."""
    left, middle, _ = st.columns([4, 3, 5], vertical_alignment="bottom")
    called = f"{len(block)} columns, {block[0]} to {block[-1]}"
    left.html(_about(called, file.guess.reasons.get(block[0], "")))
    key = _key(file, _BLOCK, "role")
    st.session_state.setdefault(key, "across" if first.across else "out")
    role: Role = middle.selectbox(
        "Role of these columns",
        ["across", "out"],
        format_func=lambda role: "Counts, one level each" if role == "across" else ROLES[role],
        key=key,
        label_visibility="collapsed",
    )
    return {name: replace(role_of(first, name), role=role) for name in block}


def _across(file: TableFile, usual: ModeColumn) -> ModeColumn:
    """The mode that the columns of counts are levels of."""
    left, right = st.columns(2)
    name = left.text_input(
        "Columns with counts are levels of",
        usual.column,
        max_chars=60,
        key=_key(file, _BLOCK, "name"),
        help="The name of this mode, such as species or date.",
    )
    with right:
        step = _step(_key(file, _BLOCK, "step"), usual)
    return replace(usual, column=name.strip() or usual.column, step=step)
