"""The file of a reader's own table: asked for, read once, kept in the session."""

from __future__ import annotations

import hashlib

import streamlit as st

from dashboard.shared.own_table import PREFIX, TableFile, forget_everywhere, put_file, table_file
from dashboard.shared.text.words import escape, escape_sentence
from dashboard.work.limited import plain_name
from dashboard.work.tables import Reading, is_quick
from uncletc.tables import MOST_ROWS, guess, read_file

_READING, _FAILED = f"{PREFIX}reading", f"{PREFIX}failed"
_ROUND = "upload-round"  # a new one empties the box for files
_SEEN = "upload-seen"  # what Streamlit calls the file that was read last
_POLL = 0.5  # seconds between two updates of the progress


def uploaded() -> TableFile | None:
    """Ask for a file; return that of this session, also after another page was shown."""
    box = st.file_uploader(
        "Your table",
        key=f"own_upload_{st.session_state.get(_ROUND, 0)}",
        help="CSV or other text with columns, Excel (.xlsx), or Parquet; up to "
        f"{MOST_ROWS / 1e6:.0f} million rows and one row of names.",
    )
    st.caption(
        "Your file is kept only for this session, and so is what is computed from it. Below you "
        "may keep it on this machine."
    )
    if box is not None and st.session_state.get(_SEEN) != box.file_id:
        _take(box.name, box.getvalue())
        st.session_state[_SEEN] = box.file_id
    _wait()
    if failed := st.session_state.get(_FAILED):
        st.error(f"This file cannot be read: {escape_sentence(failed)}", icon=":material/error:")
    file = table_file()
    if file is not None:
        _in_use(file)
    return file


def _take(name: str, data: bytes) -> None:
    """Read a file; a large one in a process beside the server."""
    name, digest = plain_name(name), hashlib.sha256(data).hexdigest()
    file = table_file()
    if file is not None and file.digest == digest:
        return
    reading: Reading | None = st.session_state.pop(_READING, None)
    if reading is not None:
        reading.cancel()
    st.session_state.pop(_FAILED, None)
    if not is_quick(data):
        st.session_state[_READING] = Reading(data, name, digest)
        return
    try:
        raw = read_file(data, name)
        _use(TableFile(name, digest, raw, guess(raw)))
    except ValueError as error:
        st.session_state[_FAILED] = str(error)


def _use(file: TableFile) -> None:
    forget_everywhere()
    put_file(file)


def _wait() -> None:
    """Show the progress of a file that is being read, and take it once it is there."""
    reading: Reading | None = st.session_state.get(_READING)
    if reading is None:
        return
    if not reading.ended:
        _progress()
        return
    st.session_state.pop(_READING, None)
    try:
        _use(TableFile(reading.name, reading.digest, *reading.table()))
    except ValueError as error:
        st.session_state[_FAILED] = str(error)


@st.fragment(run_every=_POLL)
def _progress() -> None:
    reading: Reading | None = st.session_state.get(_READING)
    if reading is None or reading.ended:
        st.rerun()
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.info(
        f"Reading {escape(reading.name)} … {reading.seconds:.0f} s. You may go to other pages "
        "meanwhile.",
        icon=":material/hourglass_top:",
    )
    right.button("Stop", key="own_stop", on_click=reading.cancel, width="stretch")


def _in_use(file: TableFile) -> None:
    rows, width = file.raw.frame.shape
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.caption(f"In use: {escape(file.name)}, {rows:,} rows of {width:,} columns")
    right.button(
        "Forget it",
        key="own_forget",
        on_click=_forget,
        width="stretch",
        help="Removes it, and all that was made of it.",
    )


def _forget() -> None:
    forget_everywhere()
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
