"""The counts that follow from a file and its columns, and all that was done on the way."""

from __future__ import annotations

from dataclasses import replace
from html import escape as as_html

import streamlit as st

from dashboard.shared.fit_status.data_report import to_mend
from dashboard.shared.own_table import PREFIX, OwnTable, own_table
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.words import escape
from dashboard.table.controls import ask_about_rows, current
from dashboard.table.roles import as_it_stands, lacking
from dashboard.table.upload import Upload
from uncletc.tables import Columns, as_missing, build, repeated_rows

TABLE, RESULTS = "The table", "What was missed"
_PART = "part"
_OF_COUNT = ("Is ", "Do the ", "Each row ")  # questions that no control asks


def choose_part() -> str:
    """Ask which part of the page to show; the address /explore begins with the results."""
    if st.session_state.get("page") == "explore" and _PART not in st.session_state:
        st.session_state[_PART] = RESULTS
    part: str = segmented("Part", [TABLE, RESULTS], key=_PART, help="The file, or its estimates.")
    return part


def show_results() -> None:
    """Turn to the results; for callbacks."""
    st.session_state[_PART] = RESULTS


def table_of(upload: Upload, columns: Columns) -> OwnTable | None:
    """Return the table with these columns; say why where they cannot be used."""
    if columns.count == upload.guess.columns.count:
        for question in upload.guess.questions:
            if question.startswith(_OF_COUNT):
                st.html(f'<p style="font-size: .875rem">{as_html(question)}</p>')
    if sentence := lacking(columns):
        st.info(sentence, icon=":material/touch_app:")
        return None
    before = own_table()
    columns = replace(columns, duplicates=current(upload).duplicates, absent=current(upload).absent)
    try:
        columns = ask_about_rows(upload, columns, _repeated(upload, columns))
        if before is not None and before.digest == upload.digest:
            columns = _as_said(columns, before.columns)
            if before.columns == columns:
                return before
        with st.spinner("Making counts of it …"):
            dataset = build(upload.raw, replace(columns, missing=()))
    except ValueError as error:
        st.error(f"These columns cannot be used: {error}", icon=":material/error:")
        return None
    known = {
        (mode, level)
        for mode, labels in zip(dataset.counts.modes, dataset.counts.labels, strict=True)
        for level in labels
    }
    columns = replace(columns, missing=tuple(each for each in columns.missing if each in known))
    if columns.missing:
        dataset = as_missing(dataset, columns.missing)
    return OwnTable(dataset=dataset, columns=columns, name=upload.name, digest=upload.digest)


def _as_said(columns: Columns, before: Columns) -> Columns:
    """What was said of levels in the report stays, where the modes are still the same."""
    modes = {each.column for each in columns.modes if each in before.modes}
    if columns.across_mode is not None and columns.across_mode == before.across_mode:
        modes.add(columns.across_mode.column)
    same = columns.count == before.count and columns.across == before.across
    return replace(
        columns,
        missing=before.missing,
        without=tuple(each for each in before.without if each[0] in modes),
        running=before.running if same and before.running in modes else None,
    )


def _repeated(upload: Upload, columns: Columns) -> int:
    """How many rows repeat an entry; counted once for the same modes."""
    plain = as_it_stands(columns)
    key = f"{PREFIX}repeated"
    kept = st.session_state.get(key)
    if kept is None or kept[0] != (upload.digest, plain):
        try:
            n = repeated_rows(upload.raw, plain)
        except ValueError:  # too many levels as they stand: only coarser ones can be used
            n = 0
        kept = st.session_state[key] = ((upload.digest, plain), n)
    return int(kept[1])


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
            on_click=show_results,
            type="primary",
            icon=":material/explore:",
        )
        st.page_link(
            "methods/page.py",
            label="**Compare methods on it**",
            icon=":material/leaderboard:",
            query_params={"section": "Your data", "counts_of": "Your table"},
        )


def notes(upload: Upload, table: OwnTable | None) -> None:
    """List what was decided or left out: while reading, and while making counts."""
    rules = upload.raw.notes if table is None else table.dataset.provenance.rules
    questions = upload.guess.questions
    if not rules and not questions:
        return
    with st.expander(f"What was done with the file ({len(rules)})"):
        st.html("<ul>" + "".join(f"<li>{as_html(rule)}</li>" for rule in rules) + "</ul>")
        if questions:
            st.html(
                "<p>Asked by the guess:</p><ul>"
                + "".join(f"<li>{as_html(each)}</li>" for each in questions)
                + "</ul>"
            )
