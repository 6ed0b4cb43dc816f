"""What each column of a reader's own table is: guessed, said why, and corrected with a click."""

from __future__ import annotations

from dataclasses import replace
from html import escape as as_html

import polars as pl
import streamlit as st

from dashboard.shared.own_table import PREFIX, own_table
from dashboard.shared.text.words import escape
from dashboard.table.roles import (
    ACTS_ON,
    ROLES,
    SIGNS,
    STEPS,
    Role,
    Said,
    block_of,
    columns_of,
    is_coarse,
    others_with,
    said_of,
)
from dashboard.table.upload import Upload
from uncletc.tables import AttributeColumn, Columns, ModeColumn

_MOST_CONTROLS = 60
_BLOCK = "block"


def current(upload: Upload) -> Columns:
    """What columns were said to be before another page was shown, or else what is guessed."""
    before = own_table()
    if before is not None and before.digest == upload.digest:
        return before.columns
    return upload.guess.columns


def choose_columns(upload: Upload) -> Columns:
    """Draw one control for each column, those that are used first; return what is said."""
    first = _first(upload)
    block = block_of(upload.guess.columns)
    names = [name for name in upload.raw.frame.columns if name not in block]
    used = [name for name in names if _role(upload, name, first) != "out"]
    said: dict[str, Said] = {}
    for name in used:
        said[name] = _row(upload, name, first)
    across_mode = first.across_mode or ModeColumn(column="series")
    if block:
        said |= _block(upload, block, first)
    if any(each.role == "across" for each in said.values()):
        across_mode = _across(upload, across_mode)
    rest = [name for name in names if name not in used]
    if rest:
        with st.expander(f"Left out ({len(rest)}), with reasons", expanded=len(used) < 3):
            for name in rest[:_MOST_CONTROLS]:
                said[name] = _row(upload, name, first)
            if len(rest) > _MOST_CONTROLS:
                others = ", ".join(escape(name) for name in rest[_MOST_CONTROLS:][:200])
                st.caption(f"Left out as well: {others}.")
    ordered = {name: said[name] for name in upload.raw.frame.columns if name in said}
    return columns_of(ordered, first, across_mode)


def _first(upload: Upload) -> Columns:
    """What is said when a file's controls are drawn first; then widgets keep it."""
    key = f"{PREFIX}first"
    kept = st.session_state.get(key)
    drawn = _key(upload, upload.raw.frame.columns[0], "role") in st.session_state
    drawn |= _key(upload, _BLOCK, "role") in st.session_state
    if kept is None or kept[0] != upload.digest or not drawn:  # another page was shown since
        kept = st.session_state[key] = (upload.digest, current(upload))
    columns: Columns = kept[1]
    return columns


def _key(upload: Upload, name: str, what: str) -> str:
    """Of a widget: it belongs to one file, and so not into the address."""
    place = name if name == _BLOCK else str(upload.raw.frame.columns.index(name))
    return f"{PREFIX}{what}-{upload.digest[:8]}-{place}"


def _is_text(upload: Upload, name: str) -> bool:
    return upload.raw.frame.schema[name] in (pl.String, pl.Categorical)


def _role(upload: Upload, name: str, first: Columns) -> Role:
    """The role of a column as its control has it now."""
    usual = said_of(first, name, is_text=_is_text(upload, name)).role
    role: Role = st.session_state.get(_key(upload, name, "role"), usual)
    return role


def _changed(upload: Upload, name: str, first: Columns) -> None:
    """Only one column is the count: another that was it is left out."""
    roles = {each: _role(upload, each, first) for each in upload.raw.frame.columns}
    for other in others_with(roles[name], name, roles):
        st.session_state[_key(upload, other, "role")] = "out"


def _row(upload: Upload, name: str, first: Columns) -> Said:
    """The control of one column, with its reason, and what its role asks for."""
    usual = said_of(first, name, is_text=_is_text(upload, name))
    left, middle, right = st.columns([4, 3, 5], vertical_alignment="bottom")
    key = _key(upload, name, "role")
    st.session_state.setdefault(key, usual.role)
    role: Role = middle.selectbox(
        f"Role of {escape(name)}",
        list(ROLES),
        format_func=lambda role: ROLES[role],
        key=key,
        on_change=_changed,
        args=(upload, name, first),
        label_visibility="collapsed",
    )
    guessed = said_of(upload.guess.columns, name, is_text=False).role
    reason = upload.guess.reasons.get(name, "")
    left.html(_about(name, reason if role == guessed else f"{ROLES[role]}, as you say."))
    said = replace(usual, role=role)
    with right:
        if role == "mode":
            return replace(said, mode=_mode(upload, name, usual.mode))
        if role == "attribute":
            return replace(said, attribute=_attribute(upload, name, usual.attribute))
    return said


def _about(name: str, reason: str) -> str:
    return (
        f'<strong>{as_html(name)}</strong><div style="font-size: .875rem">{as_html(reason)}</div>'
    )


def _mode(upload: Upload, name: str, usual: ModeColumn) -> ModeColumn:
    column = upload.raw.frame.get_column(name)
    n = column.n_unique()
    left, right = st.columns(2)
    step, bins, most = None, None, None
    with left:
        if column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
            step = _step(_key(upload, name, "step"), usual)
        elif column.dtype.is_numeric() and n > 2:
            bins = st.number_input(
                "Intervals",
                2,
                1000,
                usual.bins,
                placeholder="none",
                key=_key(upload, name, "bins"),
                help="Put numbers into so many intervals with about as many rows each. Empty: each "
                "number is a level.",
            )
    if n > 2:
        most = right.number_input(
            "Most active",
            1,
            max(n, usual.most or 0),
            usual.most,
            placeholder="all",
            key=_key(upload, name, "most"),
            help=f"Keep so many of {n:,} levels, those with most counted events. Empty: all.",
        )
    return ModeColumn(column=name, step=step, bins=bins, most=most)


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


def _attribute(upload: Upload, name: str, usual: AttributeColumn) -> AttributeColumn:
    left, right = st.columns(2)
    acts_on = left.selectbox(
        "Acts on",
        list(ACTS_ON),
        list(ACTS_ON).index(usual.acts_on),
        format_func=lambda acts_on: ACTS_ON[acts_on],
        key=_key(upload, name, "acts"),
        help="Detection: how likely a true event is counted. True counts: how many there are.",
    )
    if _is_text(upload, name):
        right.caption("Names without order: each is an attribute of its own.")
        return AttributeColumn(column=name, acts_on=acts_on, category=True)
    kind = right.selectbox(
        "p goes with it",
        [*SIGNS, "category"],
        [*SIGNS, "category"].index("category" if usual.category else usual.sign),
        format_func=lambda sign: SIGNS.get(sign, "names without order"),
        key=_key(upload, name, "sign"),
        disabled=acts_on == "rate",
    )
    category = kind == "category"
    sign = 0 if category else int(kind)
    return AttributeColumn(column=name, acts_on=acts_on, sign=sign, category=category)


def _block(upload: Upload, block: tuple[str, ...], first: Columns) -> dict[str, Said]:
    """One control for many columns of counts."""
    left, middle, _ = st.columns([4, 3, 5], vertical_alignment="bottom")
    called = f"{len(block)} columns, {block[0]} to {block[-1]}"
    left.html(_about(called, upload.guess.reasons.get(block[0], "")))
    key = _key(upload, _BLOCK, "role")
    st.session_state.setdefault(key, "across" if first.across else "out")
    role: Role = middle.selectbox(
        "Role of these columns",
        ["across", "out"],
        format_func=lambda role: "Counts, one level each" if role == "across" else ROLES[role],
        key=key,
        label_visibility="collapsed",
    )
    return {name: replace(said_of(first, name, is_text=False), role=role) for name in block}


def _across(upload: Upload, usual: ModeColumn) -> ModeColumn:
    """What the columns of counts are levels of."""
    left, right = st.columns(2)
    name = left.text_input(
        "Columns with counts are levels of",
        usual.column,
        max_chars=60,
        key=_key(upload, _BLOCK, "name"),
        help="The name of this mode, such as species or date.",
    )
    with right:
        step = _step(_key(upload, _BLOCK, "step"), usual)
    return replace(usual, column=name.strip() or usual.column, step=step)


def ask_about_rows(upload: Upload, columns: Columns, repeated: int) -> Columns:
    """Ask what rows that repeat, and rows that are absent, mean."""
    right, left = st.columns(2)
    if is_coarse(columns) and not repeated:
        columns = replace(columns, duplicates="sum")
    if repeated:
        right, left = left, right
        kinds = {
            "sum": "parts of one count: sum them",
            "looks": "several looks at the same true events",
            "refuse": "a mistake: use none of it",
        }
        key = f"{PREFIX}duplicates-{upload.digest[:8]}"
        usual = columns.duplicates if columns.duplicates != "refuse" else "sum"
        duplicates = left.radio(
            f"{repeated:,} rows name an entry that another row names too. They are",
            list(kinds),
            list(kinds).index(usual),
            format_func=lambda kind: kinds[kind],
            key=key,
        )
        columns = replace(columns, duplicates=duplicates)
    meanings = {"missing": "nobody looked: missing", "zero": "nothing was seen: 0"}
    absent = right.radio(
        "A combination without a row means",
        list(meanings),
        list(meanings).index(columns.absent),
        format_func=lambda meaning: meanings[meaning],
        key=f"{PREFIX}absent-{upload.digest[:8]}",
    )
    return replace(columns, absent=absent)
