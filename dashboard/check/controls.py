"""Parts of the Model check page: what to hold out, the checks drawn, ranks compared."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.check import charts
from dashboard.check.groups import CELL, fibres_of, names_of_groupings
from dashboard.check.ranks import rank_orders, rank_table, rank_words
from dashboard.check.verdict import Verdict
from dashboard.check.view import CheckView, Kind, check_view
from dashboard.check.words import (
    dispersion_words,
    lag_words,
    pit_words,
    size_words,
)
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import MapPicture, county_map
from dashboard.shared.cache import cached
from dashboard.shared.fit_status.badges import MARKS
from dashboard.shared.fit_status.service import batch_under_way, session
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.widgets import key_of, segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import capital
from uncletc import Fit
from uncletc.datasets import Dataset

_MAP_LIMIT = 2.0


def choose_held_out(dataset: Dataset, family: Family) -> Kind:
    """Ask what to keep from the fit."""
    whole = fibres_of(dataset)[1]
    chosen = segmented(
        "Held out",
        ["single entries", whole],
        key=key_of(family, "held"),
        help="A fifth of the counts is kept from the fit and then predicted. **Single entries**: "
        f"gaps among other counts of the same place. **{capital(whole)}**: all counts of "
        "some, to see what can be said where nothing was counted; that is much harder.",
    )
    return "entry" if chosen == "single entries" else "fibre"


def draw_verdict(verdict: Verdict) -> None:
    """Draw what the checks say together, marked by colour, sign and words."""
    color, icon = MARKS[verdict.status]
    with st.container(border=True, key="verdict"):
        st.badge(verdict.headline, icon=icon, color=color)
        st.markdown("\n".join(f"- {point}" for point in verdict.points))


def distributions(view: CheckView, mu: float) -> None:
    """Draw whether counts scatter around predictions as they should."""
    st.header("Do counts scatter as predicted?")
    left, right = st.columns(2)
    with left:
        show_chart(
            partial(charts.pit_chart, view.pit),
            key="pit",
            alt="Histogram of where counts fall in their predicted distribution",
        )
        st.caption(pit_words(view.check))
    with right:
        show_chart(
            partial(charts.quantile_chart, view.quantiles),
            key="quantiles",
            alt="Quantiles of residuals against quantiles of a normal distribution",
        )
        st.caption(
            "Each count's residual says how far it lies from its prediction, in standard "
            "deviations. **On the dashed line is right**; steeper than it, counts vary more than "
            "predicted. Beyond ± 8 residuals are cut off: such counts are as good as impossible."
        )
    numbers = view.numbers.set_index("check")
    st.table(numbers.map(lambda value: f"{value:,.3g}"))
    st.caption(dispersion_words(view.check, mu))


def sizes(view: CheckView) -> None:
    """Draw whether predictions are right on average, from small to large."""
    st.header("Are predictions right on average?")
    st.markdown(size_words(view.deciles))
    show_chart(
        partial(charts.decile_chart, view.deciles),
        key="deciles",
        alt="Mean observed against mean predicted count in ten groups, from small to large",
    )
    st.caption(
        "Held-out counts sorted by their prediction and cut into ten equal groups. **On the dashed "
        "line is right**; above it more was counted than predicted. Whiskers: approximate 95 % "
        "intervals of the mean. An open triangle: no event was counted."
    )


def places_and_times(
    dataset: Dataset, fit: Fit, kind: Kind, view: CheckView, family: Family
) -> str:
    """Draw mean residuals by a mode that the reader chooses; return its name."""
    st.header("Where and when is it off?")
    by: str = segmented(
        "By",
        names_of_groupings(dataset),
        key=key_of(family, "by"),
        help="How to group the held-out counts. The mean residual of a group is near 0 where the "
        "model is right about it.",
    )
    groups = view.groups[by]
    if by == CELL and view.counties is not None:
        _map(cached("check map", _picture, dataset, fit, kind))
    show_chart(
        partial(charts.group_chart, groups, by=by, ordered=by in view.ordered),
        key="groups",
        alt=f"Mean residual by {by}",
    )
    far = int(groups["far"].sum())
    some = f"Drawn: the {charts.AT_EITHER_END} that are most clearly off, either way."
    share = view.strengths.set_index("by")["share"][by]
    st.caption(
        f"Mean residual under the negative binomial, by {by}; above 0 more was counted than "
        f"predicted. Whiskers: approximate 95 % intervals. Orange diamonds: {far:,} of "
        f"{len(groups):,} are further off than chance would bring any of them. Together the groups "
        f"make up {100 * share:.0f} % of the variation of residuals. "
        + (some if by not in view.ordered and len(groups) > charts.ALL_GROUPS else "")
    )
    return by


def _picture(dataset: Dataset, fit: Fit, kind: Kind) -> MapPicture:
    counties = cached("check", check_view, dataset, fit, kind).counties
    assert counties is not None
    return county_map(
        counties,
        title="mean residual (standard deviations; 0: as predicted)",
        hover=("counted", "cell_note"),
        limits=(-_MAP_LIMIT, _MAP_LIMIT),
        colorscale="diverging",
        uncertain="unsure",
        uncertain_means="not clear: its 95 % interval holds 0, or fewer than 5 counts",
        number_format="+.2f",
        remark="Hatched: no held-out count."
        + (" Simulated counts." if dataset.provenance.simulated else ""),
    )


def _map(picture: MapPicture) -> None:
    show_county_map(
        picture,
        key="residual-map",
        alt="Map of US counties coloured by mean residual of held-out counts",
    )


def one_after_another(view: CheckView, mode: str) -> None:
    """Draw whether counts of one place go wrong together, where the last mode has an order."""
    if view.lags.empty:
        return
    show_chart(
        partial(charts.lag_chart, view.lags, mode=mode),
        key="lags",
        alt=f"Correlation of residuals by how many {mode}s lie between them",
    )
    st.caption(lag_words(view.lags, mode))


def ranks(dataset: Dataset, fit: Fit, kind: Kind) -> pd.DataFrame:
    """Compare ranks on demand; return what is known."""
    st.header("Would another rank predict better?")
    orders = rank_orders(dataset.counts, fit.settings, kind)
    mine = session("ranks")
    names = ", ".join(map(str, orders))
    st.markdown(
        f"Fits ranks {names} without the same held-out counts and compares how likely each makes "
        "them: what AIC estimates from counts a fit has seen, measured on counts it has not."
    )
    missing = len(mine.missing(list(orders.values())))
    pressed = missing > 0 and st.button(
        "Compare ranks",
        key="compare-ranks",
        help=f"Makes {missing} more fits, one after the other. Finished ones are used again.",
    )
    batch_under_way(
        "ranks",
        (dataset.name, fit.settings, kind),
        list(orders.values()),
        pressed=pressed,
        words="Comparing ranks: {done} of {all} fits finished",
    )
    finished = tuple(rank for rank, order in orders.items() if mine.lookup(order) is not None)
    if len(finished) < 2:
        return pd.DataFrame()
    table = cached("ranks", _rank_table, dataset, fit, kind, finished)
    _draw_ranks(table, current=fit.rank, complete=len(finished) == len(orders))
    return table


def _rank_table(dataset: Dataset, fit: Fit, kind: Kind, finished: tuple[int, ...]) -> pd.DataFrame:
    orders = rank_orders(dataset.counts, fit.settings, kind)
    fits = {rank: session("ranks").lookup(orders[rank]) for rank in finished}
    return rank_table(dataset.counts, {rank: each for rank, each in fits.items() if each}, kind)


def _draw_ranks(table: pd.DataFrame, *, current: int, complete: bool) -> None:
    st.markdown(rank_words(table, current) if complete else "So far:")
    pictures = (
        ("behind", "error", "log-likelihood behind the best"),
        ("deviance_behind", "deviance_error", "deviance above the best"),
    )
    for column, (behind, error, title) in zip(st.columns(2), pictures, strict=True):
        show_chart(
            partial(
                charts.rank_chart, table, behind=behind, error=error, title=title, current=current
            ),
            key=f"ranks-{behind}",
            alt=f"{title.capitalize()}, mean per count, by rank",
            where=column,
        )
    st.caption(
        "Means per held-out count; **lower is better**, and the best is at 0. Whiskers: ± 1 "
        "standard error of the difference to the best, paired over places; they say how much other "
        "counts could change it, not other seeds. Orange diamond: the smallest rank whose "
        "log-likelihood lies within one standard error of the best. Large dot: the rank in use. "
        "Left: negative binomial, each rank with its own φ; right: Poisson deviance, which a few "
        "large counts decide."
    )
