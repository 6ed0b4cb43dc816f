"""The file of a reader's own table: asked for, read beside the server, kept in the session."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import streamlit as st

from dashboard.shared.own_table import PREFIX, RAW, forget_everywhere, own_table
from dashboard.shared.text.words import escape
from dashboard.work.brought import plain_name
from dashboard.work.tables import Reading, is_quick
from uncletc.tables import Guess, RawTable, guess, read_file

_FILE, _READING, _FAILED = f"{PREFIX}file", f"{PREFIX}reading", f"{PREFIX}failed"
_ROUND = "upload-round"  # a new one empties the box for files
_LOOKED = 0.5  # seconds between two looks at a file that is being read


@dataclass(frozen=True, eq=False)
class Upload:
    """A file of this session.

    Attributes
    ----------
    name : str
    digest : str
        Tells it apart.
    raw : RawTable
    guess : Guess
    """

    name: str
    digest: str
    raw: RawTable
    guess: Guess


def uploaded() -> Upload | None:
    """Ask for a file; return that of this session, also after another page was shown."""
    file = st.file_uploader(
        "Your table",
        key=f"own_upload_{st.session_state.get(_ROUND, 0)}",
        help="CSV or other text with columns, Excel (.xlsx), or Parquet; up to 2 million rows.",
    )
    st.caption(
        "It stays with this server, for this browser session alone, and what is computed from it "
        "does too. Below you may keep it on this machine."
    )
    if file is not None:
        _take(file.name, file.getvalue())
    _wait()
    if failed := st.session_state.get(_FAILED):
        st.error(f"This file cannot be read: {failed[1]}", icon=":material/error:")
    upload = _upload()
    if upload is not None:
        _in_use(upload)
    return upload


def _upload() -> Upload | None:
    """The file of this session, also one that was kept on this machine."""
    upload: Upload | None = st.session_state.get(_FILE)
    raw, table = st.session_state.get(RAW), own_table()
    if upload is None and raw is not None and table is not None:
        upload = st.session_state[_FILE] = Upload(table.name, table.digest, raw, guess(raw))
    return upload


def _take(name: str, data: bytes) -> None:
    """Read a file that was not read before; a large one in a process beside the server."""
    name, digest = plain_name(name), hashlib.sha256(data).hexdigest()
    upload = _upload()
    reading: Reading | None = st.session_state.get(_READING)
    failed = st.session_state.get(_FAILED)
    known = [each.digest for each in (upload, reading) if each is not None]
    if digest in [*known, failed[0] if failed else ""]:
        return
    if reading is not None:
        reading.cancel()
        del st.session_state[_READING]
    st.session_state.pop(_FAILED, None)
    if not is_quick(data):
        st.session_state[_READING] = Reading(data, name, digest)
        return
    try:
        raw = read_file(data, name)
        _keep(Upload(name, digest, raw, guess(raw)))
    except ValueError as error:
        st.session_state[_FAILED] = (digest, str(error))


def _keep(upload: Upload) -> None:
    forget_everywhere()
    st.session_state[_FILE], st.session_state[RAW] = upload, upload.raw


def _wait() -> None:
    """Say how a file is getting on that is being read, and take it once it is there."""
    reading: Reading | None = st.session_state.get(_READING)
    if reading is None:
        return
    if not reading.ended:
        _progress()
        return
    st.session_state.pop(_READING, None)
    try:
        raw, guessed = reading.table()
        _keep(Upload(reading.name, reading.digest, raw, guessed))
    except ValueError as error:
        st.session_state[_FAILED] = (reading.digest, str(error))


@st.fragment(run_every=_LOOKED)
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


def _in_use(upload: Upload) -> None:
    rows, width = upload.raw.frame.shape
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.caption(f"In use: {escape(upload.name)}, {rows:,} rows of {width:,} columns")
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
