"""The counts that follow from a file and its columns, and all that was done on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape as as_html
from typing import Any

import streamlit as st

from dashboard.shared.fit_status.data_report import to_mend
from dashboard.shared.own_table import PREFIX, OwnTable, TableFile, own_table
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.words import escape, escape_sentence
from dashboard.table.roles import lacking, with_levels_of
from dashboard.work.tables import build_counts
from uncletc.tables import Columns

TABLE, RESULTS = "The table", "What was missed"
_PART, _REPEATED = "part", f"{PREFIX}repeated"
_OF_COUNT = ("Is ", "Do the ", "Each row ")  # questions that no control asks
_DUPLICATES = {
    "sum": "parts of one count: sum them",
    "observations": "several observations of the same true events",
    "refuse": "a mistake: use none of it",
}
_ABSENT = {"missing": "nobody looked: missing", "zero": "nothing was seen: 0"}


def choose_part() -> str:
    """Ask which part of the page to show; the address /explore begins with the results."""
    if st.session_state.get("page") == "explore" and _PART not in st.session_state:
        st.session_state[_PART] = RESULTS
    part: str = segmented("Part", [TABLE, RESULTS], key=_PART, help="The file, or its estimates.")
    return part


def table_of(file: TableFile, columns: Columns) -> OwnTable | None:
    """Return the table with these columns; say why where they cannot be used."""
    if columns.count == file.guess.columns.count:
        _sentences([each for each in file.guess.questions if each.startswith(_OF_COUNT)])
    if sentence := lacking(columns):
        st.info(sentence, icon=":material/touch_app:")
        return None
    table, error = own_table(), ""
    before = None if table is None or table.digest != file.digest else table
    usual = file.guess.columns if before is None else before.columns
    keys = {name: f"{PREFIX}{name}-{file.digest[:8]}" for name in ("duplicates", "absent")}
    usual_rows = "sum" if usual.duplicates == "refuse" else usual.duplicates
    columns = replace(
        columns,
        duplicates=st.session_state.setdefault(keys["duplicates"], usual_rows),
        absent=st.session_state.setdefault(keys["absent"], usual.absent),
    )
    columns = with_levels_of(columns, usual)
    if before is None or before.columns != columns:
        with st.spinner("Making counts of it …"):
            made = build_counts(file.raw, columns)
        st.session_state[_REPEATED], error = made.repeated, made.error
        if made.dataset is not None:
            before = OwnTable(
                dataset=made.dataset, columns=columns, name=file.name, digest=file.digest
            )
    repeated = st.session_state.get(_REPEATED, 0)
    left, right = st.columns(2)
    if repeated:
        words = f"{repeated:,} rows name an entry that another row names too. They are"
        _ask(left, words, _DUPLICATES, keys["duplicates"])
    else:  # a widget that is not drawn leaves no value behind
        st.session_state[keys["duplicates"]] = "sum"
    _ask(right if repeated else left, "A combination without a row means", _ABSENT, keys["absent"])
    if error:
        st.error(f"These columns cannot be used: {escape_sentence(error)}", icon=":material/error:")
        return None
    return before


def _ask(where: Any, label: str, options: dict[str, str], key: str) -> None:
    where.radio(label, list(options), format_func=lambda option: options[option], key=key)


def counted(table: OwnTable) -> None:
    """Say what counts there are, and where to go from here."""
    y = table.dataset.counts
    sizes = " × ".join(
        f"{size:,} {escape(mode)}" for size, mode in zip(y.shape, y.modes, strict=True)
    )
    st.success(
        f"**{y.n_observed:,} counts** of {sizes}: {y.share_observed:.1%} of all combinations.",
        icon=":material/check:",
    )
    if sentence := to_mend(table.dataset):
        st.html(f"<p><strong>Before you go on:</strong> {sentence}</p>")
    with st.container(horizontal=True):
        st.button(
            "See what was missed",
            key="own-see",
            on_click=_show_results,
            type="primary",
            icon=":material/explore:",
        )
        st.page_link(
            "methods/page.py",
            label="**Compare methods on it**",
            icon=":material/leaderboard:",
            query_params={"section": "These counts", "data": "Your table"},
        )


def _show_results() -> None:
    st.session_state[_PART] = RESULTS


def notes(file: TableFile, table: OwnTable | None) -> None:
    """List what was decided or left out: while reading, and while making counts."""
    rules = file.raw.notes if table is None else table.dataset.provenance.rules
    if not rules and not file.guess.questions:
        return
    with st.expander(f"What was done with the file ({len(rules)})"):
        _sentences(rules)
        _sentences(file.guess.questions)


def _sentences(sentences: Sequence[str]) -> None:
    """Sentences as HTML, not Markdown: words of a reader's own file stay what they are."""
    if sentences:
        st.html("<ul>" + "".join(f"<li>{as_html(each)}</li>" for each in sentences) + "</ul>")
