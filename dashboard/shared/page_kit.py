"""The parts of a page of one fit: its head, both ends of a ranking, its table, its foot."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.shared.cache import FAMILY
from dashboard.shared.charts.answers import Answers, not_distinguishable
from dashboard.shared.charts.bars import bar_limits, ranked_bars
from dashboard.shared.charts.places import Ranking
from dashboard.shared.charts.style import BAR_COLORS
from dashboard.shared.fit_status import running
from dashboard.shared.fit_status.badges import fit_badges
from dashboard.shared.fit_status.running import FittedPage
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar import sidebar as controls
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.widgets import dataset_or_stop, key_of, segmented, simulated_badge
from dashboard.shared.text.page import help_drawer, show_chart, show_table
from dashboard.shared.text.words import NO_INTERVALS
from uncletc import Scale


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
    shown = running.fit_or_stop(dataset, choices)
    with badges.container():
        fit_badges(shown.dataset, shown.fit)
    return shown


def both_ends(
    view: Ranking,
    *,
    of: str,
    level: bool,
    chosen: Sequence[str],
    on_click: Callable[[str], None],
    caption: str,
    log: bool = False,
) -> None:
    """Draw the lowest and the highest side by side, and where their order says nothing, say so.

    Parameters
    ----------
    view : Ranking
        Its bars are those of :func:`dashboard.shared.charts.answers.bars_of`.
    of : str
        What is ranked: "detection".
    level : bool
        Whether the level of p is uncertain, which intervals here leave out.
    chosen : sequence of str
        Labels of bars to outline.
    on_click : callable
        Called with the label of a bar.
    caption : str
        What the values are and what a click does; what the whiskers are follows.
    log : bool
        Whether the axis is logarithmic.
    """
    ends, use = ["low", "high"], ", to compare bars" * ("low" in view.ranked and level)
    both = (("bottom", "Lowest", view.bottom), ("top", "Highest", view.top))
    sides = [each for each in both if len(each[-1])]
    limits = bar_limits(view.bottom, view.top, log=log)
    for column, (side, end, bars) in zip(st.columns(2), sides, strict=False):
        key, labels = f"bars-{side}", set(bars["label"])
        with column:
            st.header(f"{end} {of}")
            show_chart(
                partial(
                    ranked_bars,
                    bars[[name for name in ("label", "value", *ends, "note") if name in bars]],
                    title=view.title,
                    color=BAR_COLORS[side],
                    limits=limits,
                    interval=f"90 % interval{use}",
                    log=log,
                    # Only what is among them: the same figure for all other choices.
                    chosen=tuple(each for each in chosen if each in labels),
                ),
                key=key,
                on_select=partial(_clicked, key, on_click),
                selection_mode="points",
                alt=f"{end} {of}: {len(bars)} bars of p",
            )
    wider = f"{use}; those in the table include the uncertain level of p, too" if use else ""
    whiskers = f"Whiskers: 90 % intervals{wider}." if "low" in view.ranked else NO_INTERVALS
    alike = [f"the {end.lower()}" for _, end, bars in sides if not_distinguishable(bars)]
    order = f"The order of {' and of '.join(alike)} is not statistically distinguishable. "
    st.caption(f"{order * bool(alike)}{caption} {whiskers}")


def _clicked(chart: str, on_click: Callable[[str], None]) -> None:
    for point in st.session_state[chart].selection.points[:1]:
        on_click(point["customdata"][-1])


def answer_table(answers: Answers, title: str, *, names: Mapping[str, str]) -> None:
    """Draw what was reported and estimated, by what the reader chooses.

    Parameters
    ----------
    answers : Answers
    title : str
    names : mapping of str to str
        What each of ``answers.tables`` is called.
    """
    st.header(title)
    key = key_of(st.session_state[FAMILY], "by")
    by = segmented("By", names, key=key, label_visibility="collapsed", help="What a row is.")
    alt = f"Reported and estimated by {names[by]}"
    show_table(answers.shown[by], key=f"answers-{by}", alt=alt)


def foot(
    page: FittedPage,
    name: str,
    *,
    means: Sequence[str],
    tables: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]],
    scale: Scale | None = None,
) -> None:
    """Draw the drawer of help, and what may be downloaded.

    Parameters
    ----------
    page : FittedPage
    name : str
        Which names of files begin with.
    means : sequence of str
        What the numbers mean.
    tables
        See :func:`dashboard.shared.fit_status.takeaway.take_away`.
    scale : Scale, optional
        Of the numbers. None: they are relative.
    """
    help_drawer(*means, scale=scale, roles=page.roles, fit=page.fit)
    take_away(name, **page._asdict(), tables=tables)
