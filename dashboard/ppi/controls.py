"""What the plant–pollinator page asks for, and what a click chooses."""

import streamlit as st

from dashboard.ppi import view
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.charts.places import labels_of_pairs, pair_columns
from dashboard.shared.sidebar.model import PAPER, ModelChoice
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset

_CHOSEN = "interaction"  # in the address and the session
_BLOCK = "block"  # in the address
_BEST = "detected-best"  # drawn where nothing is chosen


def choose_scope(dataset: Dataset) -> view.Scope:
    """Ask for seasons; the block of the matrix is in the address."""
    years = st.pills(
        "Seasons",
        sorted(dataset.mode_tables["visit"]["year"].unique().tolist()),
        selection_mode="multi",
        key="seasons",
        bind="query-params",
        help="The years whose visits are averaged and drawn. None chosen: all.",
    )
    block = _chosen_block(dataset)
    if block != view.EVERYTHING:
        st.button(
            "Show all interactions again",
            key="no-block",
            on_click=_choose_block,
            args=(view.EVERYTHING,),
            help="Numbers, bars and tables are of the box drawn on the matrix.",
        )
    return view.Scope(tuple(years), block)


def _chosen_block(dataset: Dataset) -> view.Block:
    """Plants and pollinators of the box drawn on the matrix; empty for all."""
    asked = st.query_params.get(_BLOCK, "").split("-")
    found = [
        tuple(int(each) for each in part.split(",") if each.isdecimal() and int(each) < size)
        for part, size in zip(asked, dataset.counts.shape[:2], strict=False)
    ]
    return (found[0], found[1]) if len(found) == 2 and all(found) else view.EVERYTHING


def _choose_block(block: view.Block) -> None:
    st.query_params.pop(_BLOCK, None)
    if block != view.EVERYTHING:
        st.query_params[_BLOCK] = "-".join(",".join(map(str, part)) for part in block)


def offer_paper(found: view.PpiView, model: ModelChoice) -> None:
    """Offer the paper's model where a fit finds no difference in p."""
    if found.alike and model.model != PAPER:
        st.button(
            "Fit as in the paper",
            key="as-in-the-paper",
            on_click=st.session_state.update,
            args=({"ppi_model": PAPER},),
            help="Chooses *UncleTC, as in the paper*: all covariates affect p, no random effects.",
        )


def ppi_view(dataset: Dataset, fit: Fit, anchor: Anchor, scope: view.Scope) -> view.PpiView:
    """Return the view of a fit and some counts; for `cached`."""
    sums = cached(view.pair_sums, dataset, fit)
    return view.build_ppi_view(dataset, grids_of(dataset, fit, anchor), sums, scope)


def choose_interactions(dataset: Dataset, found: view.PpiView) -> list[str]:
    """Draw the list of interactions, and return what is chosen: the one detected best, if none.

    That one is in the hint of the list, which changes with the fit. As its value, it could return
    from the browser after another fit had replaced it, and seem to be chosen by the reader.
    """
    labels = view.pair_labels(dataset)
    best = st.session_state[_BEST] = found.ranked["label"].head(1).tolist()
    given = st.session_state.get(_CHOSEN, [])
    if any(label not in labels for label in given):
        st.session_state[_CHOSEN] = [label for label in given if label in labels]
    chosen: list[str] = st.multiselect(
        "Interactions",
        labels,
        key=_CHOSEN,
        bind="query-params",
        max_selections=view.MOST_CHOSEN,
        select_all=False,  # else Enter takes all that the text finds
        placeholder=f"{best[0]} has the highest p; type to choose others",
        help=f"Up to {view.MOST_CHOSEN} are drawn. A click on a bar or square adds or removes one.",
    )
    return chosen or best


def toggle(label: str) -> None:
    """Add an interaction to those chosen, or remove it."""
    now = st.session_state[_CHOSEN] or st.session_state[_BEST]
    st.session_state[_CHOSEN] = view.toggled(now, label)


def on_matrix(key: str, dataset: Dataset) -> None:
    """Choose the interactions of the squares clicked on, or those in the box drawn."""
    selection = st.session_state[key].selection
    labels = [point["customdata"] for point in selection.points]
    if selection.box and len(labels) > 1:
        table = dataset.table
        inside = table.loc[labels_of_pairs(table).isin(labels), pair_columns(dataset)]
        plants, pollinators = (tuple(sorted(set(inside[name]))) for name in inside)
        _choose_block((plants, pollinators))
        return
    for label in labels:
        toggle(label)
