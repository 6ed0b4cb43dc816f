"""What was missed in a reader's own table, by whatever its modes are."""

import math
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import by_county, county_map
from dashboard.shared.cache import cached, cached_for_counts
from dashboard.shared.charts.answers import share_words
from dashboard.shared.charts.bars import matrix_chart
from dashboard.shared.charts.places import Ranking, located_mode
from dashboard.shared.data_section import data_section
from dashboard.shared.fit_status.running import FittedPage, say_trained, unfinished
from dashboard.shared.own_table import PREFIX, own_or_stop
from dashboard.shared.page_kit import answer_table, both_ends, fitted_page, foot
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import insight_with_caution, show_chart, show_table
from dashboard.shared.text.words import INTERVALS, capital, escape, escape_sentence, read_words
from dashboard.table import view
from dashboard.table.charts import lines_chart, places_chart
from uncletc import Fit
from uncletc.datasets import Dataset
from uncletc.planning import plan

WORDS = read_words(__file__, "means.toml")
_PLAIN = ("", "count", "counts", "reported")  # names that say no more than "reported"


def results() -> None:
    """Draw λ, p and counts of the reader's own table."""
    page = fitted_page("own", "What was missed in your counts?")
    dataset, fit, roles, anchor = page
    modes, quantity = _choose(dataset, fit)
    with st.spinner("Adding up …"):
        levels = cached(view.level_view, dataset, fit, anchor, modes)
    values = levels.values(quantity)
    if values.ranked.empty:
        st.info("No entry has a value here. Choose another mode.")
        return
    so_far = unfinished(fit)
    if not so_far and (words := fit.assumption(dataset.counts)):
        st.warning(f"{escape_sentence(words)}.", icon=":material/warning:")
    counted = own_or_stop().columns.count
    st.markdown(levels.sentence(so_far=so_far, counted="" if counted in _PLAIN else counted))
    ranked = quantity == "p" and not values.same and values.caution is None
    ranks = levels.answers.precision if ranked else ""
    insight_with_caution(f"{values.insight} {ranks}", values.caution, so_far=so_far)
    say_trained(fit)
    lines = None
    if not values.same:
        if modes == (located_mode(dataset),):
            _map(dataset, levels.names[0], values)
        elif len(modes) > 1:
            _matrix(dataset, modes, levels, values)
        bars, lines = st.container(), _lines(page, modes, quantity, levels, values)
        if len(values.ranked) > 1:
            followed = () if lines is None else tuple(lines["label"].unique())
            with bars:
                both_ends(
                    values,
                    of={"p": "detection", "λ": levels.symbol, "counts": "counts"}[quantity],
                    level=False,
                    chosen=followed,
                    on_click=partial(_follow, f"{PREFIX}lines-{'-'.join(levels.names)}"),
                    caption="Means over entries with a count."
                    + " Click a bar to follow it." * bool(followed),
                    log=values.log,
                )
    answer_table(
        levels.answers,
        f"Reported and estimated, by {' and '.join(map(escape, levels.names))}",
        names={"levels": "level"},
    )
    planning_section(dataset, fit, absolute=levels.scale.absolute)
    data_section(own_or_stop().dataset, report=False)
    tables = {f"By {' and '.join(levels.names)}": levels.main_table}
    if lines is not None:
        tables["Lines"] = view.lines_table(lines, quantity, levels.scale)
    foot(
        page,
        "table",
        scale=levels.scale,
        means=(
            WORDS["means"][0].format(roles.on_detection or "none here"),
            WORDS["means"][1] + WORDS["means"][2].format(view.MOST_LISTED) * bool(levels.rest),
            share_words(late=fit.reports_late) if levels.scale.absolute else "",
            INTERVALS["low" in values.ranked],
        ),
        tables=tables,
    )


def _choose(dataset: Dataset, fit: Fit) -> tuple[tuple[int, ...], view.Quantity]:
    """Ask what to show: by which modes, and which number."""
    left, right = st.columns(2, vertical_alignment="bottom")
    closed = fit.settings.closed
    quantity: view.Quantity = segmented(
        "Show",
        {"p": "p", "λ": "N" if closed and fit.scale else "λ", "counts": "reported counts"},
        default="p" if dataset.counts.n_attributes else "λ",
        key="quantity",
        where=left,
        help=WORDS["quantity"],
    )
    differing = cached_for_counts(view.modes_of_p, dataset)
    if quantity == "p":  # which may differ along a closed mode
        closed = [each for each in closed if dataset.counts.modes.index(each) not in differing]
    options = view.modes_of(dataset, closed)
    options = {it: of for it, of in options.items() if differing.issuperset(of)} | options
    key = f"{PREFIX}modes{'-closed' * bool(closed)}"
    name = segmented("By", list(options), key=key, where=right, wrap=True, help="What a row is.")
    return options[name], quantity


def _map(dataset: Dataset, name: str, values: Ranking) -> None:
    """Draw the values of places where they lie."""
    alt = f"Map of {len(values.ranked):,} levels of {name} by {values.title}"
    known = dataset.mode_tables[name].reset_index(drop=True)
    where = ["fips"] if "fips" in known else ["latitude", "longitude"]
    places = values.ranked.join(known[where], on="index_0").dropna(subset=where)
    if where != ["fips"]:
        show_chart(partial(places_chart, places, **values.drawn), key="table-places", alt=alt)
        return
    notes = [f"{row.label}: {row.counted:,} counted" for row in places.itertuples()]
    counties = by_county(places.assign(note=notes))
    picture = county_map(counties, hover=("note",), missing="no value", **values.drawn)
    show_county_map(picture, key="table-map", alt=alt)


def _matrix(
    dataset: Dataset, modes: tuple[int, ...], levels: view.LevelView, values: Ranking
) -> None:
    st.header(capital(" and ".join(map(escape, levels.names))))
    matrix = partial(matrix_chart, view.build_matrix(dataset, modes, values), **values.drawn)
    alt = f"{values.title} of {' and '.join(levels.names)}, {len(values.ranked):,} pairs"
    show_chart(matrix, key="table-matrix", alt=alt)
    st.caption("One square is one pair, a mean over all else; blank: nothing was counted.")


def _follow(key: str, label: str) -> None:
    """Follow the level of the bar clicked on, or follow it no more."""
    now: list[str] = list(st.session_state.get(key, []))
    if label in now:
        st.session_state[key] = [each for each in now if each != label]
    elif len(now) < view.MOST_CHOSEN:
        st.session_state[key] = [*now, label]


def _lines(
    page: FittedPage,
    modes: tuple[int, ...],
    quantity: view.Quantity,
    levels: view.LevelView,
    values: Ranking,
) -> pd.DataFrame | None:
    """Draw a few levels over an ordered mode, and return them."""
    along = view.ordered_modes(page.dataset, modes, page.fit.settings.closed)
    if not along:
        return None
    heading = st.empty()
    name = segmented("Along", list(along), key=f"{PREFIX}along", help="Over which steps.")
    heading.header(f"Over {escape(name)}")
    by_size = values.ranked.sort_values("counted", ascending=False)["label"].tolist()
    labels = st.multiselect(
        capital(" and ".join(map(escape, levels.names))),
        by_size,
        by_size[:1],
        key=f"{PREFIX}lines-{'-'.join(levels.names)}",
        max_selections=view.MOST_CHOSEN,
        help=f"Up to {view.MOST_CHOSEN}. A click on a bar adds it too.",
    )
    if not labels:
        st.info("Choose one to follow it.")
        return None
    asked = (page.dataset, page.fit, page.anchor, modes, along[name], tuple(labels), quantity)
    lines: pd.DataFrame = cached(view.build_lines, *asked)
    show_chart(
        partial(lines_chart, lines, title=values.title, along=name, log=values.log),
        key="table-lines",
        alt=f"{values.title} of {', '.join(labels)} over {name}",
    )
    st.caption("Bands: 90 % intervals." if "low" in lines else "Without intervals.")
    return lines


def planning_section(dataset: Dataset, fit: Fit, *, absolute: bool) -> None:
    """Ask what a larger study would have, and draw how wide its intervals would be.

    A total of λ is left out where only relative values are known.
    """
    counts = dataset.counts
    if fit.draws is None or fit.settings.closed or counts.closed_mode:  # plans are of λ, not of N
        return
    folded = st.expander("With more counts", key=f"{PREFIX}plan", on_change="rerun")
    if not folded.open:
        return
    modes = counts.modes[-3:]
    columns = folded.columns(len(modes) + 2)
    times = {
        mode: column.slider(
            f"Times as many levels of {escape(mode)}",
            1.0,
            5.0,
            2.0 if mode == modes[-1] else 1.0,
            0.5,
            "%.3g",
            key=f"{PREFIX}plan-{k}",
        )
        for k, (mode, column) in enumerate(zip(modes, columns, strict=False))
    }
    survey = columns[-2].number_input(
        "Places surveyed",
        0,
        1000,
        0,
        key=f"{PREFIX}plan-survey",
        help="Places at which p is found otherwise, such as by a second observer or a camera.",
    )
    error = columns[-1].slider("Error of p there, ± %", 5, 100, 20, 5) if survey else 20
    found = plan(counts, fit, times=times, survey=int(survey), survey_error=error / 100)
    found = found[absolute | (found["quantity"] != "total")]
    shown = {"interval of": found["quantity"].map(WORDS["planned"])}
    for when in ("now", "then"):
        shown[when] = [f"× {w:.3g}" if math.isfinite(w) else "unknown" for w in found[when]]
    place = " × ".join(map(escape, counts.modes[:-1]))
    with folded:
        show_table(pd.DataFrame(shown), key="table-plan", alt="Widths of intervals")
        st.caption(f"Upper over lower end of a 90 % interval; typical is the median {place}.")
