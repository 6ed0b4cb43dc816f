"""A file of `uncletc search` on the page "Methods": its trials, the best of them, and a picture."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.methods.charts import trials_chart
from dashboard.methods.words import spread
from dashboard.shared.parts import show_chart
from dashboard.shared.words import escape


def study_box() -> None:
    """Draw the folded box that opens a search study."""
    with st.expander("Open a search study", icon=":material/query_stats:"):
        st.markdown(
            "`uncletc search` looks for good settings of a method and keeps its trials in one "
            "file, which can be looked at here, also while the search goes on."
        )
        file = st.file_uploader(
            "Study file",
            key="study_upload",
            help="The file that the search writes. It is read and not kept.",
        )
        if file is None:
            return
        study = _read(file.getvalue())
        if isinstance(study, str):
            st.error(f"This study cannot be opened: {study}")
            return
        _draw(study)


def _read(data: bytes) -> Any:
    """The study, or why not as a sentence."""
    from uncletc import search  # Optuna is an extra

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study"
        path.write_bytes(data)
        try:
            return search.open_study(path)
        except (ValueError, ImportError) as error:
            return str(error).replace(str(path), "the file")


def _draw(study: Any) -> None:
    frame = study.frame
    done = int((frame["state"] == "complete").sum())
    hidden = "single counts" if study.kind == "entry" else "whole places or pairs"
    st.markdown(
        f"**{study.method}** on {escape(study.dataset)}: {len(frame)} of {study.total} "
        f"trials, {done} complete, with {hidden} hidden in {study.n_folds} folds."
    )
    if not done:
        st.info("No trial is complete yet.")
        st.dataframe(frame, width="stretch", hide_index=True)
        return
    best = frame[frame["state"] == "complete"].sort_values("value", kind="stable").iloc[0]
    chosen = ", ".join(f"{name} {best[name]}" for name in study.space)
    st.success(
        f"Best so far: **{chosen}**, rRMSE {spread(*study.best_value)} on validation counts.",
        icon=":material/star:",
    )
    setting = st.selectbox(
        "Setting",
        list(study.space),
        key="study_setting",
        help="Each dot is a trial; the large one is the best.",
    )
    show_chart(
        trials_chart(frame, setting=setting),
        key="study-trials",
        alt=f"Validation rRMSE of {len(frame)} trials by {setting}",
    )
    st.dataframe(frame, width="stretch", hide_index=True)
