"""A page of one fit, part by part: its head, both ends of a ranking, its table, and its foot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.shared.charts.answers import Answers, alike
from dashboard.shared.charts.places import Ranking
from dashboard.shared.charts.style import BAR_COLORS
from dashboard.shared.fit_status import running
from dashboard.shared.fit_status.badges import fit_badges
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar import sidebar as controls
from dashboard.shared.sidebar.choice import ModelChoice
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.widgets import dataset_or_stop, segmented, simulated_badge
from dashboard.shared.text.page import fit_details, meaning, role_details, show_chart, show_table
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset


class FittedPage(NamedTuple):
    """What a page of one fit shows."""

    dataset: Dataset
    fit: Fit
    roles: ModelChoice
    anchor: Anchor


def fitted_page(family: Family, title: str, *, scale: bool = True) -> FittedPage:
    """Draw title, sidebar and badges, and return the fit to show with its counts.

    Parameters
    ----------
    family : {"covid", "ppi", "own"}
    title : str
    scale : bool
        Whether the page shows numbers whose scale is free.
    """
    st.title(title)
    choices = controls.sidebar(family, scale=scale)
    dataset = dataset_or_stop(choices.dataset)
    badges = st.empty()
    with badges.container():
        simulated_badge(dataset)
    dataset, fit, roles = running.fit_or_stop(dataset, choices)
    with badges.container():
        fit_badges(dataset, fit, family)
    return FittedPage(dataset, fit, roles, choices.anchor)


def both_ends(
    view: Ranking,
    answers: Answers,
    draw: partial[go.Figure],
    *,
    of: str,
    ranking: bool,
    chosen: Sequence[str],
    on_click: Callable[[str], None],
) -> None:
    """Draw the lowest and the highest side by side, or say why none is listed first.

    Parameters
    ----------
    view : Ranking
    answers : Answers
    draw : partial
        A function of charts that takes bars and, by name, color and chosen.
    of : str
        What is ranked: "detection".
    ranking : bool
        Whether the order says anything.
    chosen : sequence of str
        Labels of bars that stand out.
    on_click : callable
        Called with the key of the chart that was clicked on.
    """
    if not ranking:
        st.header(f"Lowest and highest {of}")
        why = answers.apart.words or "Their order by p says nothing here."
        st.info(f"{why} So none is listed first.", icon=":material/help:")
        return
    sides = (("bottom", "Lowest", view.bottom), ("top", "Highest", view.top))
    for column, (side, end, bars) in zip(st.columns(2), sides, strict=True):
        key, labels = f"bars-{side}", set(bars["label"])
        with column:
            st.header(f"{end} {of}")
            show_chart(
                # Only what is among them: the same figure for all other choices.
                partial(
                    draw,
                    bars,
                    color=BAR_COLORS[side],
                    chosen=tuple(each for each in chosen if each in labels),
                ),
                key=key,
                on_select=partial(on_click, key),
                selection_mode="points",
                alt=f"{end} {of}: {len(bars)} bars of p",
            )
            if alike(bars):
                st.caption(
                    f"**These {len(bars)} cannot be told apart from each other**: each might be "
                    "the first of them or the last."
                )


def answer_table(
    answers: Answers,
    title: str,
    *,
    names: Mapping[str, str],
    notes: str,
    shares: str,
    uncertain_scale: bool,
) -> None:
    """Draw what was reported and estimated, by what the reader chooses.

    Parameters
    ----------
    answers : Answers
    title : str
    names : mapping of str to str
        What each of ``answers.tables`` is called.
    notes : str
        What the rows are.
    shares : str
        What "% counted" is.
    uncertain_scale : bool
        Whether intervals hold how uncertain the scale is.
    """
    st.header(title)
    by = segmented(
        "By",
        list(names),
        names=names,
        key="table_by",
        label_visibility="collapsed",
        help="What a row is.",
    )
    show_table(answers.shown[by], key=f"answers-{by}", alt=f"Reported and estimated by {names[by]}")
    absolute, intervals = answers.scale.absolute, "rate_low" in answers.total
    st.caption(
        f"Click a heading to sort. {notes} "
        + (
            shares
            if absolute
            else "**Relative λ**: what would have been counted if p were its median everywhere."
        )
        + (" 90 %: intervals, from chance in the counts." if intervals else "")
        + (" They hold how uncertain the scale is, too." if intervals and uncertain_scale else "")
    )


def foot(
    page: FittedPage,
    name: str,
    *,
    means: str,
    tables: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]],
    code: str,
) -> None:
    """Draw what the numbers mean, the roles, the course of the fit, and what may be downloaded."""
    meaning(means)
    role_details(page.roles)
    fit_details(page.fit, page.roles)
    take_away(
        name,
        dataset=page.dataset,
        fit=page.fit,
        roles=page.roles,
        anchor=page.anchor,
        tables=tables,
        code=code,
    )
