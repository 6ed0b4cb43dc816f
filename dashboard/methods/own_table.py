"""A reader's own table on the page "Methods": upload, choice of columns, counts."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass

import pandas as pd
import streamlit as st

from dashboard.methods.files import Columns, guess_columns, sample_table
from dashboard.shared.scripts import Code
from dashboard.shared.service import session
from dashboard.shared.takeaway import csv_bytes
from uncletc import datasets
from uncletc.datasets import Dataset

_FILE = "own-file"


@dataclass(frozen=True, eq=False)
class _Upload:
    """A file of this session: its name, what tells it apart, and its table."""

    name: str
    digest: str
    table: pd.DataFrame


def own_dataset() -> tuple[Dataset, Code] | None:
    """Ask for a file and its columns; the counts and the code that reads them, None without."""
    st.markdown(
        "A table in **long form**: one row per entry, with a column for each label "
        "(place, species, week), one for the count, and any number of columns that detection may "
        "depend on. "
        "**A combination without a row is missing, not zero**: write zeros where you looked and "
        "found none."
    )
    st.download_button(
        "Example file (simulated)",
        lambda: csv_bytes(sample_table()),
        "simulated-example.csv",
        key="sample",
        on_click="ignore",
        icon=":material/download:",
        help="A small simulated table in this form, to look at or to try out.",
    )
    upload = _uploaded()
    if upload is None:
        return None
    columns = _choose_columns(upload)
    if columns is None:
        return None
    key = (upload.digest, columns)
    before = st.session_state.get("own-counts")
    if before is not None and before[0] == key:
        dataset: Dataset = before[1]
    else:
        try:
            dataset = datasets.read_table(
                upload.table,
                **asdict(columns),
                name=upload.name,
            )
        except ValueError as error:
            st.error(f"These columns cannot be used: {error}")
            return None
        st.session_state["own-counts"] = (key, dataset)
        st.session_state.setdefault("own-digests", set()).add(dataset.counts.digest)
    y = dataset.counts
    sizes = " × ".join(f"{size} {mode}" for size, mode in zip(y.shape, y.modes, strict=True))
    st.success(
        f"**{y.n_observed:,} counts** of {sizes}: {y.share_observed:.1%} of all combinations. "
        + " ".join(dataset.provenance.rules),
        icon=":material/check:",
    )
    return dataset, columns.load(upload.name)


def _uploaded() -> _Upload | None:
    """The file of this session, also after another section was shown."""
    file = st.file_uploader(
        "Your table",
        type=["csv", "tsv", "txt", "parquet"],
        key="own_upload",
        help="CSV with commas, semicolons or tabs, or Parquet.",
    )
    st.caption(
        "It stays in this server’s memory, for this browser session alone. Its counts are written "
        "to the cache folder only while a comparison runs, and deleted then; scores are kept there."
    )
    if file is not None:
        data = file.getvalue()
        digest = hashlib.sha256(data).hexdigest()
        upload = st.session_state.get(_FILE)
        if upload is None or upload.digest != digest:
            try:
                upload = _Upload(file.name, digest, datasets.read_file(file, file.name))
            except ValueError as error:
                st.error(f"This file cannot be read: {error}")
                return None
            _forget()
            st.session_state[_FILE] = upload
        return upload
    upload = st.session_state.get(_FILE)
    if upload is not None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.caption(f"In use: {upload.name}, uploaded earlier.")
        if right.button("Forget it", key="own_forget", help="Removes it from memory."):
            _forget()
            st.rerun()
    return upload


def _forget() -> None:
    """Drop the file, the counts that were read from it, and all that was asked of them."""
    st.session_state.pop(_FILE, None)
    st.session_state.pop("own-counts", None)
    mine = session("methods")
    for digest in st.session_state.pop("own-digests", set()):
        mine.service.forget(digest, mine.watcher)


def _choose_columns(upload: _Upload) -> Columns | None:
    names = [str(name) for name in upload.table.columns]
    guess = guess_columns(upload.table)
    st.dataframe(upload.table.head(5), width="stretch", hide_index=True)
    key = upload.digest[:8]  # choices belong to one file, and so not into the address
    left, right = st.columns(2)
    modes = left.multiselect(
        "Columns that name an entry",
        names,
        list(guess.modes),
        key=f"own_modes_{key}",
        help="Two or more: the modes of the tensor. Whole places are hidden over the last one, so "
        "put time last.",
    )
    count = right.selectbox(
        "Column with the count",
        names,
        names.index(guess.count) if guess.count else None,
        key=f"own_count_{key}",
        help="Whole numbers, 0 or more; empty where nobody counted.",
    )
    rest = [name for name in names if name not in modes and name != count]
    attributes = left.multiselect(
        "Attributes",
        rest,
        [name for name in guess.attributes if name in rest],
        key=f"own_attributes_{key}",
        help="Numbers that detection may depend on, such as weather, effort or testing.",
    )
    exposure = right.selectbox(
        "Exposure",
        [name for name in rest if name not in attributes],
        None,
        key=f"own_exposure_{key}",
        placeholder="none",
        help="What true counts are proportional to, such as people, traps or hours. Leave it empty "
        "if there is none.",
    )
    if len(modes) < 2 or count is None:
        st.info("Choose two or more columns that name an entry, and the one with the count.")
        return None
    return Columns(modes=tuple(modes), count=count, attributes=tuple(attributes), exposure=exposure)
