"""A file of `uncletc search` on the page "Methods": its trials, the best of them, and a picture."""

from __future__ import annotations

import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard.methods.charts import trials_chart
from dashboard.methods.words import spread
from dashboard.shared.sidebar.model import FROM_COUNTS
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import escape
from uncletc.search import Study, open_study


def study_box() -> None:
    """Draw the folded box that opens a search study; without Optuna, say what it needs."""
    if find_spec("optuna") is None:
        st.caption(
            "To open files of `uncletc search` here, install Optuna: "
            '`pip install "uncletc[search]"`'
        )
        return
    with st.expander("Open a search study", icon=":material/query_stats:"):
        st.markdown(
            "`uncletc search` looks for good settings of a method and keeps its trials in one "
            "file, which you can open here, even while the search is running."
        )
        file = st.file_uploader(
            "Study file",
            key="study_upload",
            help="The file that the search writes. It is read but not kept.",
        )
        if file is None:
            return
        study = _read(file.getvalue())
        if isinstance(study, str):
            st.error(f"This study cannot be opened: {study}")
            return
        _draw(study)


def _read(data: bytes) -> Study | str:
    """The study, or why not as a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study"
        path.write_bytes(data)
        try:
            return open_study(path)
        except ValueError as error:
            return str(error).replace(str(path), "the file")


def _draw(study: Study) -> None:
    settings = study.settings
    frame = study.frame.assign(
        **{
            name: study.frame[name].map(lambda value: FROM_COUNTS if pd.isna(value) else value)
            for name, choices in settings.choices.items()
            if None in choices
        }
    )
    done = int((frame["state"] == "complete").sum())
    hidden = "single counts" if settings.kind == "entry" else "whole places or pairs"
    st.markdown(
        f"**{study.method}** on {escape(study.dataset)}: {len(frame)} of {settings.n_trials} "
        f"trials, {done} complete, with {hidden} hidden in {settings.n_folds} folds."
    )
    if not done:
        st.info("No trial is complete yet.")
        st.dataframe(frame, width="stretch", hide_index=True)
        return
    best = frame[frame["state"] == "complete"].sort_values("value", kind="stable").iloc[0]
    chosen = ", ".join(f"{name} {best[name]}" for name in settings.choices)
    st.success(
        f"Best so far: **{chosen}**, rRMSE {spread(*study.best_value)} on validation counts.",
        icon=":material/star:",
    )
    setting = st.selectbox(
        "Setting",
        list(settings.choices),
        key="study_setting",
        help="Each dot is a trial; the large one is the best.",
    )
    show_chart(
        partial(trials_chart, frame, setting=setting),
        key="study-trials",
        alt=f"Validation rRMSE of {len(frame)} trials by {setting}",
    )
    st.dataframe(frame, width="stretch", hide_index=True)
