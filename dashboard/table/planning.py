"""How intervals would narrow with more visits, more places or a survey: a section."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from dashboard.shared.own_table import PREFIX
from dashboard.shared.text.page import show_table
from dashboard.shared.text.words import escape
from uncletc import Fit
from uncletc.datasets import Dataset
from uncletc.planning import plan

_NAMES = {
    "detection": "p of a typical place",
    "rate": "λ of a typical place",
    "total": "total of λ",
    "scale": "scale that all p share",
}
_MOST = 5.0  # times as many levels


def planning_section(dataset: Dataset, fit: Fit) -> None:
    """Ask what a larger study would have, and draw how wide its intervals would be."""
    st.header("With more counts")
    if fit.draws is None:
        st.caption("A plan compares intervals, and this fit has none yet.")
        return
    modes = list(dataset.counts.modes)
    columns = st.columns(min(len(modes), 3) + 2)
    times = {
        mode: column.slider(
            f"Times as many levels of {escape(mode)}",
            1.0,
            _MOST,
            2.0 if mode == modes[-1] else 1.0,
            0.5,
            key=f"{PREFIX}plan-{k}",
            help="New levels are taken to be like those at hand.",
        )
        for k, (mode, column) in enumerate(zip(modes[-3:], columns, strict=False))
    }
    survey = columns[-2].number_input(
        "Places surveyed",
        0,
        1000,
        0,
        key=f"{PREFIX}plan-survey",
        help="Places at which p is found otherwise, such as by a second observer or a camera.",
    )
    error = columns[-1].slider(
        "Error of p there, ± %",
        5,
        100,
        20,
        5,
        key=f"{PREFIX}plan-error",
        help="Relative standard error of p at each surveyed place.",
    )
    found = plan(dataset.counts, fit, times=times, survey=int(survey), survey_error=error / 100)
    show_table(plan_table(found), key="table-plan", alt="Widths of intervals", height=178)
    st.caption(
        "Widths are the upper over the lower end of a 90 % interval. They rest on the information "
        f"of this fit; a place is a combination of levels of all columns but {escape(modes[-1])}."
    )


def plan_table(found: pd.DataFrame) -> pd.DataFrame:
    """Return widths as the page shows them, in words."""
    return pd.DataFrame(
        {
            "interval of": found["quantity"].map(_NAMES),
            "now": [_times(width) for width in found["now"]],
            "then": [_times(width) for width in found["then"]],
        }
    )


def _times(width: float) -> str:
    return f"× {width:.3g}" if math.isfinite(width) else "unknown"
