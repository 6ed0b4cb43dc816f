"""Parts that pages draw alike, their style, and what each run of a page begins with."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.column_config import NumberColumn
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.countymap.component import FIGURES
from dashboard.shared.cache import drawn
from dashboard.shared.charts.answers import anchor_words
from dashboard.shared.charts.style import CHART_CONFIG
from dashboard.shared.fit_status.running import how_it_was_fitted
from dashboard.shared.sidebar.model import NO_MODEL, ModelChoice
from dashboard.shared.text.words import read_words
from uncletc import Fit, Scale

_STATIC = Path(__file__).parents[2] / "static"
_SCRIPTS = Path(st.__file__).parent / "static/static/js"
_CHARTS = next((each.name for each in _SCRIPTS.glob("PlotlyChart.*.js")), "")  # else on demand
_SCRIPT = (_STATIC / "one_step.html").read_text(encoding="utf-8").replace("CHARTS", _CHARTS)
_GLOSSARY = Path(__file__).with_name("glossary.md")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?|[\d.]+e\+?\d{3,})", re.IGNORECASE)


def begin_run() -> None:
    """Draw and take up what every page begins with; once a run, before the page itself."""
    st.session_state[FIGURES] = {}
    st.html(_STATIC / "page.css")
    _restore_settings()
    _drop_not_finite()
    with st.sidebar.popover("Glossary", icon=":material/menu_book:", width="stretch"):
        st.markdown(_GLOSSARY.read_text(encoding="utf-8"))
    st.html(_SCRIPT, unsafe_allow_javascript=True)


def _restore_settings() -> None:
    """Take all settings from the address after Back or Forward; before the page runs.

    Streamlit drops those whose widgets the page that is left has, too, as if they were meant for
    that page alone.
    """
    run = get_script_run_ctx()
    if run is None or not getattr(run, "is_history_navigation", False):
        return
    with run.session_state.query_params() as address:
        address.populate_from_query_string(run.query_string)
        address.set_initial_query_params_from_current()
        address._send_query_param_msg()  # noqa: SLF001, nothing public informs the browser


def _drop_not_finite() -> None:
    """Drop numbers that are none, as 1e999, from the address; before widgets take them up."""
    given = {key: st.query_params.get_all(key) for key in st.query_params}
    wrong = [key for key, texts in given.items() if any(map(_NOT_FINITE.fullmatch, texts))]
    for key in wrong:
        del st.query_params[key]
    run = get_script_run_ctx()
    if wrong and run is not None:
        with run.session_state.query_params() as address:
            address.set_initial_query_params_from_current()


_WORDS = read_words(__file__, "page.toml")
HOW = "about"  # key of the help drawer, whose value says whether it is open
_ROW, _ROWS = 35, 5  # pixels of a row of a table, and how many are seen at once
_DECIMALS = {"p": "%.3f", "relative p": "%.2f"}  # in all rows the same


def show_chart(
    figure: partial[go.Figure], *, key: str, alt: str, where: Any = st, **more: Any
) -> None:
    """Draw a figure.

    Parameters
    ----------
    figure : partial
        The function that draws it and what it draws: it is called once, and its figure kept for all
        who look at the same numbers.
    key : str
    alt : str
        What it shows, for those who do not see it.
    where : optional
        A column.
    **more
        Other arguments of ``st.plotly_chart``.
    """
    shown = drawn(figure, dark=st.context.theme.type == "dark")
    st.session_state.setdefault(FIGURES, {})[key] = alt, shown
    where.plotly_chart(shown, config=CHART_CONFIG, key=key, alt=alt, **more)


def show_table(table: pd.DataFrame, *, key: str, alt: str) -> None:
    """Draw a table that can be sorted, its numbers as this reader's country writes them.

    It is as high as five rows at most; others are scrolled to.

    Parameters
    ----------
    table : DataFrame
    key : str
    alt : str
        What it shows, for those who do not see it.
    """
    numbers = table.select_dtypes("number").columns
    st.dataframe(
        table,
        hide_index=True,
        placeholder="",
        height=_ROW * (min(len(table), _ROWS) + 1) + 3,
        key=key,
        column_config={
            n: NumberColumn(
                format=_DECIMALS.get(n.split(", ")[0], "localized"),
                help=_WORDS["mean p"] if n in _DECIMALS else None,
            )
            for n in numbers
        },
        alt=alt,
    )


def insight_with_caution(insight: str, caution: str | None, *, so_far: bool = False) -> None:
    """Draw the main finding, and below it why not to trust it, where there is a reason.

    Of a fit under way (`so_far`) it is marked as such, and estimates may yet be trusted.
    """
    st.markdown(f"So far: {insight[:1].lower()}{insight[1:]}" if so_far else insight)
    if caution and not so_far:
        st.warning(caution, icon=":material/error:")


def help_drawer(
    *points: str, scale: Scale | None = None, roles: ModelChoice = NO_MODEL, fit: Fit | None = None
) -> None:
    """Draw the help drawer: what the numbers of a page mean, the model, and how it was fitted.

    It is filled when it is opened.

    Parameters
    ----------
    *points : str
        What the numbers of this page mean and do not mean.
    scale : Scale, optional
        Of its numbers. None: that of the fit.
    roles : ModelChoice
    fit : Fit, optional
    """
    folded = st.expander("About these numbers", icon=":material/help:", key=HOW, on_change="rerun")
    if not folded.open:
        return
    with folded:
        scale = scale or (None if fit is None else fit.scale)
        free = scale is None or not scale.absolute
        level = _WORDS["free"] if free else _WORDS["assumed"].format(anchor_words(scale))
        shown = (*points, level, _WORDS["no cause"])
        st.markdown("\n".join(f"- {point}" for point in shown if point))
        if roles.attributes:
            st.markdown("**What each covariate affects, and why**")
            st.table(roles.table.set_index("covariate"))
        if roles.effects:
            st.markdown("**Random effects**: one factor for each level or pair, shrunk to 1")
            st.table(roles.effect_table.set_index("effect"))
        if fit is not None:
            st.markdown(how_it_was_fitted(fit, roles))
