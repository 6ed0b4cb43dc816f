"""Parts of the page "Your table": the file, and what its columns are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from dashboard.shared.own import PREFIX, OwnTable, forget, own_table
from dashboard.shared.words import escape
from dashboard.table.files import guess_columns, plain_columns
from uncletc import datasets
from uncletc.tables import Columns, as_missing

_FILE = f"{PREFIX}file"
_ROUND = "upload-round"  # a new one empties the box for files


@dataclass(frozen=True, eq=False)
class Upload:
    """A file of this session: its name, what tells it apart, and its table."""

    name: str
    digest: str
    table: pd.DataFrame


def uploaded() -> Upload | None:
    """Ask for a file; return that of this session, also after another page was shown."""
    file = st.file_uploader(
        "Your table",
        type=["csv", "tsv", "txt", "parquet"],
        key=f"own_upload_{st.session_state.get(_ROUND, 0)}",
        help="CSV with commas, semicolons or tabs, or Parquet.",
    )
    st.caption(
        "It stays in this server’s memory, for this browser session alone. Its counts are written "
        "to the cache folder only while something is computed from them, and deleted then; results "
        "are kept there."
    )
    if file is not None:
        data = file.getvalue()
        digest = hashlib.sha256(data).hexdigest()
        upload: Upload | None = st.session_state.get(_FILE)
        if upload is None or upload.digest != digest:
            try:
                upload = Upload(file.name, digest, datasets.read_file(file, file.name))
            except ValueError as error:
                st.error(f"This file cannot be read: {error}")
                return None
            forget()
            st.session_state[_FILE] = upload
    upload = st.session_state.get(_FILE)
    if upload is not None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.caption(f"In use: {escape(upload.name)}")
        right.button(
            "Forget it",
            key="own_forget",
            on_click=_forget,
            width="stretch",
            help="Removes it, and all that was made of it.",
        )
    return upload


def _forget() -> None:
    forget()
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def table_of(upload: Upload, columns: Columns) -> OwnTable | None:
    """Return the table with these columns; say why where they cannot be used."""
    before = own_table()
    if before is not None and before.digest == upload.digest:
        columns = replace(columns, missing=before.columns.missing)  # stays as it was said
        if before.columns == columns:
            return before
    try:
        dataset = datasets.read_table(
            upload.table,
            modes=[each.column for each in columns.modes],
            count=columns.count,
            attributes=[each.column for each in columns.attributes],
            exposure=columns.exposure,
            name=upload.name,
        )
    except ValueError as error:
        st.error(f"These columns cannot be used: {error}")
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


def choose_columns(upload: Upload) -> Columns | None:
    """Ask what the columns are; None while that is not enough."""
    names = [str(name) for name in upload.table.columns]
    first = _first(upload)
    st.dataframe(upload.table.head(5), width="stretch", hide_index=True)
    key = upload.digest[:8]  # choices belong to one file, and so not into the address
    left, right = st.columns(2)
    modes = left.multiselect(
        "Columns that name an entry",
        names,
        [each.column for each in first.modes],
        key=f"own_modes_{key}",
        help="Two or more: the modes of the tensor. Whole places are hidden over the last one, so "
        "put time last.",
    )
    count = right.selectbox(
        "Column with the count",
        names,
        names.index(first.count) if first.count else None,
        key=f"own_count_{key}",
        help="Whole numbers, 0 or more; empty where nobody counted.",
    )
    rest = [name for name in names if name not in modes and name != count]
    attributes = left.multiselect(
        "Attributes",
        rest,
        [each.column for each in first.attributes if each.column in rest],
        key=f"own_attributes_{key}",
        help="Numbers that detection may depend on, such as weather, effort or testing.",
    )
    free = [name for name in rest if name not in attributes]
    exposure = right.selectbox(
        "Exposure",
        free,
        free.index(first.exposure) if first.exposure in free else None,
        key=f"own_exposure_{key}",
        placeholder="none",
        help="What true counts are proportional to, such as people, traps or hours. Leave it empty "
        "if there is none.",
    )
    if len(modes) < 2 or count is None:
        st.info("Choose two or more columns that name an entry, and the one with the count.")
        return None
    return plain_columns(
        modes=tuple(modes), count=count, attributes=tuple(attributes), exposure=exposure
    )


def _first(upload: Upload) -> Columns:
    """What columns were said to be before another page was shown, or else a guess."""
    before = own_table()
    if before is not None and before.digest == upload.digest:
        return before.columns
    return guess_columns(upload.table)
