"""Sections of the Model check page: what to hold out, the checks drawn, further fits on demand."""

from __future__ import annotations

from functools import partial
from time import monotonic

import pandas as pd
import streamlit as st

from dashboard.check import charts
from dashboard.check.outside import NAMES, OutsideView, build_outside_view, difference_view
from dashboard.check.verdict import (
    Verdict,
    credited_words,
    dispersion_words,
    lag_words,
    pit_words,
    rank_words,
    size_words,
)
from dashboard.check.view import (
    CELL,
    CheckView,
    Kind,
    check_view,
    fibres_of,
    rank_orders,
    rank_table,
)
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import MapPicture, county_map
from dashboard.shared.cache import cached, cached_for_counts
from dashboard.shared.fit_status.badges import MARKS, SECTION, gain_table, whole
from dashboard.shared.fit_status.service import batch_under_way, progress_bar, say_failed, session
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.roles import NONE_ON_DETECTION
from dashboard.shared.sidebar.widgets import key_of, segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import capital, escape, times
from dashboard.work.jobs import Job
from dashboard.work.orders import AttributeGain
from uncletc import Fit, datasets
from uncletc.datasets import Dataset, Outside

_MAP_LIMIT = 2.0
_POLL = 0.5  # seconds between two updates of the progress
_LONG_WAIT = 6.0  # seconds; alone it has begun by then


def choose_held_out(dataset: Dataset, family: Family) -> Kind:
    """Ask what to keep from the fit."""
    places = fibres_of(dataset)[1]
    chosen = segmented(
        "Held out",
        ["single entries", places],
        names={each: escape(each) for each in ("single entries", places)},
        key=key_of(family, "held"),
        help="A fifth of the counts is kept from the fit and then predicted. **Single entries**: "
        f"gaps among other counts of the same place. **{capital(escape(places))}**: all counts of "
        "some, which shows what can be said where nothing was counted; that is much harder.",
    )
    return "entry" if chosen == "single entries" else "fibre"


def draw_verdict(verdict: Verdict) -> None:
    """Draw what the checks say together, marked by colour, sign and words."""
    color, icon = MARKS[verdict.status]
    with st.container(border=True, key="verdict"):
        st.badge(verdict.headline, icon=icon, color=color)
        st.markdown("\n".join(f"- {point}" for point in verdict.points))


def sizes(view: CheckView) -> None:
    """Draw whether predictions are right on average, from small to large."""
    st.header("Are predictions right on average?")
    st.markdown(size_words(view.check.deciles))
    show_chart(
        partial(charts.decile_chart, view.check.deciles),
        key="deciles",
        alt="Mean observed against mean predicted count in ten groups, from small to large",
    )
    st.caption(
        "Held-out counts in ten equal groups by their prediction. **On the dashed line is right**; "
        "above it more was counted than predicted. Whiskers: approximate 95 % intervals. An open "
        "triangle: no event was counted."
    )


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
            "How far each count lies from its prediction, in standard deviations. **On the dashed "
            "line is right**; steeper, counts vary more than predicted. Cut off at ± 8."
        )
    st.table(view.numbers.set_index("check").map(lambda value: f"{value:,.3g}"))
    st.caption(dispersion_words(view.check, mu))


def places_and_times(
    dataset: Dataset, fit: Fit, kind: Kind, view: CheckView, family: Family
) -> str:
    """Draw mean residuals by a mode that the reader chooses, and by distance; return the mode."""
    st.header("Where and when is it off?")
    by: str = segmented(
        "By",
        list(view.groups),
        names={each: escape(each) for each in view.groups},
        key=key_of(family, "by"),
        help="How to group the held-out counts. The mean residual of a group is near 0 where the "
        "model is right about it.",
    )
    groups, mode = view.groups[by], dataset.counts.modes[-1]
    if by == CELL and view.counties is not None:
        show_county_map(
            cached("check map", _residual_map, dataset, fit, kind),
            key="residual-map",
            alt="Map of US counties coloured by mean residual of held-out counts",
        )
    show_chart(
        partial(charts.group_chart, groups, by=by, ordered=by in view.ordered),
        key="groups",
        alt=f"Mean residual by {by}",
    )
    some = f" Drawn: the {charts.AT_EITHER_END} that are most clearly off, either way."
    share = view.strengths.set_index("by")["share"][by]
    st.caption(
        f"Mean residual under the negative binomial; above 0 more was counted than predicted. "
        f"Whiskers: approximate 95 % intervals. Orange diamonds: {int(groups['far'].sum()):,} of "
        f"{len(groups):,}, further off than chance would bring any. The groups make up "
        f"{100 * share:.0f} % of the variation of residuals."
        + (some if by not in view.ordered and len(groups) > charts.ALL_GROUPS else "")
    )
    if not view.lags.empty:
        show_chart(
            partial(charts.lag_chart, view.lags, mode=mode),
            key="lags",
            alt=f"Correlation of residuals by how many {mode}s lie between them",
        )
        st.caption(lag_words(view.lags, escape(mode)))
    return by


def _residual_map(dataset: Dataset, fit: Fit, kind: Kind) -> MapPicture:
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


def gain_section(dataset: Dataset, fit: Fit, kind: Kind) -> pd.DataFrame:
    """Measure on demand what attributes add to held-out scores; return it where it is known."""
    st.header(SECTION)
    counts = dataset.counts
    if not counts.n_attributes:
        st.markdown(NONE_ON_DETECTION)
        return pd.DataFrame()
    order = AttributeGain(counts=counts, settings=fit.settings, kind=kind)
    held = "single entries" if kind == "entry" else escape(whole(dataset))
    st.markdown(
        f"Holds out {held}, a fifth at a time, and compares how likely two fits make them: this "
        "one, and one whose p is the same everywhere. Attributes that may change λ still do."
    )
    mine = session("gain")
    asked = mine.lookup(order) is not None or bool(mine.under_way([order]))
    if not asked and st.button(
        "Measure what attributes add",
        key="measure-gain",
        help=f"Makes {order.trials} fits in the background, each about as long as one of this "
        "page. The result is stored, and shown on the page of the counts.",
    ):
        mine.submit([order])
        st.rerun()
    if mine.under_way(
        [order]
    ):  # before the observation process-up: one that ends in between is found
        _gain_progress(order)
    else:
        say_failed(mine, [order], "The comparison")
    gain = mine.lookup(order)
    if gain is None:
        return pd.DataFrame()
    st.markdown(
        f"**{gain.sentence(escape(whole(dataset)))}** In a fit of all counts p is "
        f"{times(gain.spread)} as high at its 95th percentile over the counted entries as at its "
        "5th."
    )
    st.caption(
        f"Log score (−log of the probability given to the count, lower is better): "
        f"{gain.log_score:.4f} with the attributes, {gain.log_score_constant:.4f} with one p. "
        "Negative binomial, its φ from counts that neither train nor test. After ±: the standard "
        f"error over folds of differences fold by fold. {credited_words(counts)}"
    )
    return gain_table(gain, dataset)


@st.fragment(run_every=_POLL)
def _gain_progress(order: AttributeGain) -> None:
    mine = session("gain")
    under_way = mine.under_way([order])
    if not under_way:
        st.rerun()
    (job,) = under_way
    progress_bar(
        job.share, _gain_text(job), key="cancel-gain", on_cancel=mine.cancel, args=([order],)
    )


def _gain_text(job: Job) -> str:
    if job.state == "waiting":
        waits = monotonic() - job.asked > _LONG_WAIT
        return f"Comparing: {'waiting for another run to finish' if waits else 'getting ready'} …"
    number = min(job.trial + 1, job.order.trials)
    return f"Comparing: fit {number} of {job.order.trials}, iteration {job.iteration}"


def ranks(dataset: Dataset, fit: Fit, kind: Kind) -> pd.DataFrame:
    """Compare ranks on demand; return what is known."""
    st.header("Would another rank predict better?")
    orders = rank_orders(dataset.counts, fit.settings, kind)
    mine = session("ranks")
    st.markdown(
        f"Fits ranks {', '.join(map(str, orders))} without the same held-out counts and compares "
        "how likely each makes them: what AIC estimates, measured on counts no fit has seen."
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
    st.markdown(rank_words(table, fit.rank) if len(finished) == len(orders) else "So far:")
    pictures = (
        ("behind", "error", "log-likelihood behind the best"),
        ("deviance_behind", "deviance_error", "deviance above the best"),
    )
    for column, (behind, error, title) in zip(st.columns(2), pictures, strict=True):
        show_chart(
            partial(
                charts.rank_chart, table, behind=behind, error=error, title=title, current=fit.rank
            ),
            key=f"ranks-{behind}",
            alt=f"{title.capitalize()}, mean per count, by rank",
            where=column,
        )
    st.caption(
        "Means per held-out count; **lower is better**, the best is at 0. Whiskers: ± 1 standard "
        "error of the difference to the best, paired over places. Orange diamond: the smallest "
        "rank whose log-likelihood lies within one standard error of the best. Large dot: the rank "
        "in use. Left: negative binomial, each rank with its own φ; right: Poisson deviance, which "
        "a few large counts decide."
    )
    return table


def _rank_table(dataset: Dataset, fit: Fit, kind: Kind, finished: tuple[int, ...]) -> pd.DataFrame:
    orders = rank_orders(dataset.counts, fit.settings, kind)
    fits = {rank: session("ranks").lookup(orders[rank]) for rank in finished}
    return rank_table(dataset.counts, {rank: each for rank, each in fits.items() if each}, kind)


# Of `benchmarks/results/outside.md`.
_MOSTLY_STATED = (
    "**Most of this agreement comes from the stated roles, not from the counts**: what each "
    "covariate affects was stated before any fit, and an index of these directions alone, made "
    "without any count, correlates at +0.37 with blood surveys and at +0.47 with tests per person."
)
_BOXES = {
    "bad": (st.error, ":material/error:"),
    "open": (st.warning, ":material/help:"),
    "good": (st.success, ":material/check_circle:"),
}


def outside_section(dataset: Dataset, fit: Fit, *, stated: bool) -> OutsideView | None:
    """Compare p of COVID-19 counts with independent estimates, or with the truth of simulated ones.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts, real or simulated.
    fit : Fit
    stated : bool
        Whether the fit has the recommended roles of covariates.

    Returns
    -------
    OutsideView or None
        None where there is nothing to compare with.
    """
    real = dataset.truth is None
    st.header(
        "Does p agree with independent estimates?" if real else "Does p agree with the truth?"
    )
    if real and not datasets.available(datasets.OUTSIDE):
        _offer_download()
        return None
    try:
        view = cached("outside", _outside_view, dataset, fit)
    except (datasets.DataUnavailableError, ValueError) as error:
        st.info(f"p was not compared: {error}", icon=":material/help:")
        return None
    box, icon = _BOXES[view.tone]
    box(f"{view.verdict}{f' {_MOSTLY_STATED}' * (real and stated)}", icon=icon)
    show_chart(
        partial(charts.agreement_dots, view.dots),
        key="outside-dots",
        alt="Rank correlations over states, of p with independent estimates and of these with each "
        "other",
    )
    st.caption(f"{view.figures} {view.cells} Lines: 90 % intervals over states.")
    name = view.names[0]
    if len(view.names) > 1:
        labels = {each: NAMES[each] for each in view.names}
        name = segmented("Where p differs from", view.names, names=labels, key="outside")
    picture = cached("outside map", _outside_map, dataset, fit, name)
    show_county_map(
        picture,
        key="outside-map",
        alt=f"Map of US states coloured by {picture.title}",
        height=400,
    )
    st.caption(f"By state. Orange: p is higher than {NAMES[name]} suggest; violet: lower.")
    if view.sources:
        with st.expander("Sources of these estimates"):
            st.markdown("\n".join(f"- {each}" for each in view.sources))
    return view


def _outside_view(dataset: Dataset, fit: Fit) -> OutsideView:
    outside = None
    if dataset.truth is None:
        outside = cached_for_counts("outside estimates", _load_outside, dataset)
    return build_outside_view(dataset, fit, outside)


def _load_outside(dataset: Dataset) -> Outside:
    return datasets.load_outside(dataset)  # read when called, so that tests may replace it


def _outside_map(dataset: Dataset, fit: Fit, name: str) -> MapPicture:
    difference = difference_view(cached("outside", _outside_view, dataset, fit), name)
    return county_map(
        difference.counties,
        title=difference.title,
        hover=("ranks",),
        limits=difference.limits,
        log=True,
        colorscale="diverging",
        missing="not known",
        remark="Simulated counts." if dataset.provenance.simulated else "",
    )


def _offer_download() -> None:
    st.markdown(
        "Blood surveys, later deaths and tests per person are not on this machine, so p was not "
        "compared with them."
    )
    if not st.button("Download the independent estimates (2 MB)", key="download-outside"):
        return
    try:
        datasets.fetch_all(datasets.OUTSIDE)
    except datasets.DataUnavailableError as error:
        st.error(f"The download did not finish: {error}")
        return
    st.rerun()
