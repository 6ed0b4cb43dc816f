"""Your table: a reader's own file, the counts that follow from it, and what was missed in them."""

from collections.abc import Sequence
from html import escape as as_html

import streamlit as st

from dashboard.shared.data_section import before_you_fit, questions_on_visits, say_problems
from dashboard.shared.fit_status.takeaway import csv_bytes
from dashboard.shared.own_table import EDITED, ENTERED, NAME, OwnTable, own_table, put
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_table
from dashboard.shared.text.words import plural, shape_words
from dashboard.table.controls import WORDS, choose_columns, table_of, uploaded, with_surveys
from dashboard.table.results import results
from dashboard.table.roles import preview, sample_table
from dashboard.work.tables import TableFile
from uncletc.tables.columns import IN_SETTINGS

TABLE, RESULTS = "The table", "What was missed"
PART = "part"


def file_and_columns() -> None:
    """Ask for a file and what its columns are, and draw the counts that follow."""
    st.title("Your own counts")
    st.markdown(WORDS["begin"])
    st.download_button(
        "Example file (simulated)",
        lambda: csv_bytes(sample_table()),
        "simulated-example.csv",
        key="sample",
        help=WORDS["helps"]["example"],
        on_click="ignore",
        icon=":material/download:",
    )
    file = uploaded()
    if file is None:
        return
    result, head = st.container(), st.container()  # drawn last: they depend on what is chosen
    st.header("What each column is")
    columns = choose_columns(file)
    with head:
        rows = preview(file.raw.frame, columns).to_pandas()
        show_table(rows, key="own-preview", alt="The first rows")
    if columns.count == file.guess.columns.count:
        modes = *file.guess.columns.modes, *columns.all_modes  # columns across may be renamed
        above = questions_on_visits([each.column for each in modes])
        asked = [it for it in file.guess.questions if it not in above]
        sentences([it for it in asked if it.startswith(("Is ", "Are ", "Do"))])
    table = table_of(file, columns)
    if table is not None:
        table = with_surveys(table)
        put(table)
        with result:
            counted(table)
        st.header("Before you fit")
        before_you_fit(table.dataset)
    elif own_table() is not None:
        st.caption(WORDS["as before"])
    notes(file, table)


def counted(table: OwnTable) -> None:
    """Say what counts there are, and where to go from here."""
    y = table.dataset.counts
    words = f"**{y.n_observed:,} counts** of {shape_words(y)}: {100 * y.share_observed:.3g} % of "
    words += "all combinations."
    if y.captures is not None:
        words = f"**{plural(len(y.captures), 'individual')}** at {plural(y.shape[1], y.modes[1])}."
    words += f" **Surveys**: {len(y.surveys)}." if y.surveys else ""
    st.markdown(words)
    say_problems(table.dataset, fix="")
    st.button(
        "See what was missed",
        key="own-see",
        on_click=lambda: st.session_state.update({PART: RESULTS}),
        type="primary",
        disabled=not y.counts.any(),  # as the problem above it says
        icon=":material/explore:",
    )
    st.page_link(
        "methods/page.py",
        label="Compare methods on it",
        icon=":material/leaderboard:",
        query_params={"section": "These counts", "data": NAME},
    )


def notes(file: TableFile, table: OwnTable | None) -> None:
    """List what was decided or left out: while reading, and while making counts."""
    rules = file.raw.notes if table is None else table.dataset.provenance.rules
    if lines := [*rules, *file.guess.questions]:
        with st.expander(f"What was done with the file ({len(lines)})"):
            sentences(lines)


def sentences(lines: Sequence[str]) -> None:
    """Draw sentences as HTML, not Markdown: words of a reader's own file stay what they are."""
    if lines:
        items = (as_html(each.partition(IN_SETTINGS)[0]) for each in lines)
        st.html("<ul>" + "".join(f"<li>{each}</li>" for each in items) + "</ul>")


hint = WORDS["helps"]["part"]
part = segmented("Part", [TABLE, RESULTS], key=PART, label_visibility="collapsed", help=hint)
if part == RESULTS or st.session_state[ENTERED]:
    st.session_state.pop(EDITED, None)
if part == RESULTS:
    results()
else:
    file_and_columns()
