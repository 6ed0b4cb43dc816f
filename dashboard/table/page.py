"""Your table: a reader's own file, the counts that follow from it, and what was missed in them."""

import streamlit as st

from dashboard.shared.fit_status.data_report import before_you_fit
from dashboard.shared.fit_status.takeaway import csv_bytes
from dashboard.shared.own_table import put, save_toggle
from dashboard.shared.text.page import show_table
from dashboard.table.counts import RESULTS, choose_part, counted, notes, table_of
from dashboard.table.files import sample_table
from dashboard.table.results import results
from dashboard.table.role_controls import choose_columns
from dashboard.table.roles import preview
from dashboard.table.upload import uploaded


def file_and_columns() -> None:
    """Ask for a file and what its columns are, and draw the counts that follow."""
    st.markdown(
        "CSV, Excel or Parquet, with **one row per count** or **one column per species, date or "
        "visit**. Column types are detected; correct them if needed. Empty means not counted, "
        "which is **missing, not zero**."
    )
    st.download_button(
        "Example file (simulated)",
        lambda: csv_bytes(sample_table()),
        "simulated-example.csv",
        key="sample",
        on_click="ignore",
        icon=":material/download:",
        help="A small simulated table, to look at or to try out.",
    )
    file = uploaded()
    if file is None:
        return
    # What is drawn first depends on controls further down.
    head, asked, result = st.container(), st.container(), st.container()
    st.header("What each column is")
    columns = choose_columns(file)
    with head:
        rows, more = preview(file.raw.frame, columns)
        show_table(rows.to_pandas(), key="own-preview", alt="The first rows", height=213)
        if more:
            st.caption(f"… and {more:,} more columns")
    with asked:
        table = table_of(file, columns)
    if table is not None:
        put(table)
        with result:
            counted(table)
            save_toggle(file)
    notes(file, table)
    if table is not None:
        st.header("Before you fit")
        before_you_fit(table.dataset)


st.title("Your own counts")
if choose_part() == RESULTS:
    results()
else:
    file_and_columns()
