"""Download & cite: tables, fit, settings and citation, at the end of a page."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from dashboard.countymap.component import FIGURES
from dashboard.shared.cache import with_model
from dashboard.shared.charts.export import interactive_html
from dashboard.shared.charts.places import is_covid, is_own, labels_of_counties
from dashboard.shared.fit_status.badges import known_verdict
from dashboard.shared.own_table import own_table
from dashboard.shared.sidebar.model import NO_MODEL, ModelChoice, describe
from dashboard.shared.text.words import escape, plural, slug
from dashboard.work.orders import FitOrder, limits_before
from uncletc import Anchor, Fit, Recipe
from uncletc.datasets import Dataset
from uncletc.datasets.base import citation
from uncletc.estimates import defused, every_entry, to_bytes
from uncletc.estimates.sums import number_name
from uncletc.report import report
from uncletc.tables import Columns

BOX = "take-away"  # key of the box, whose value says whether it is open


def take_away(
    page: str,
    *,
    dataset: Dataset,
    fit: Fit | None,
    tables: Mapping[str, pd.DataFrame | Callable[[], pd.DataFrame]],
    roles: ModelChoice = NO_MODEL,
    anchor: Anchor | None = None,
) -> None:
    """Draw the folded box with everything that a reader may download or cite.

    Nothing is made before it is asked for: the box is filled when it is opened, files are made at
    the click.

    Parameters
    ----------
    page : str
        A short name, which file names begin with.
    dataset : Dataset
    fit : Fit, optional
        None where the page shows no fit.
    tables : mapping of str to DataFrame, or to a function that returns one
        By name, in the order to offer them. A function is called when the box is open.
    roles : ModelChoice
        Those of the fit.
    anchor : Anchor, optional
        The statement about the scale. None: the scale that the data state, or relative values.
    """
    folded = st.expander("Download & cite", icon=":material/download:", key=BOX, on_change="rerun")
    if not folded.open:  # the rest waits, so that no page is slower for it
        return
    stem = file_stem(page, dataset.name, fit, roles)
    with folded:
        figures = dict(st.session_state.get(FIGURES, {}).values())
        link = f"{st.context.url or ''}?{urlencode(st.query_params.to_dict(), doseq=True)}"
        if figures:
            html = partial(interactive_html, dataset.title, link, figures)
            _button("Interactive figures (.html)", html, f"{stem}.html", "figures")
        scale = "" if fit is None else ", on the scale of p chosen now"
        st.markdown(f"**Tables** of what this page shows{scale}")
        for name, given in tables.items():
            table, part = given() if callable(given) else given, slug(name)
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.markdown(f"{escape(name)} · {plural(len(table), 'row')}")
            data = partial(csv_bytes, table)
            _button("CSV", data, f"{stem}-{part}.csv", f"{part}-csv", right)
        if fit is not None:
            if (fitted := _fitted(dataset, fit, roles)) is not None:
                _every_entry(stem, fitted, fit, roles, anchor or Anchor())
            st.markdown("**The fit**, to continue with in Python: `uncletc.Fit.load(path)`")
            _button("Fit (.npz)", partial(FitOrder.encode, fit), f"{stem}.npz", "fit")
        st.markdown("**How to cite**")
        st.code(citation(dataset.title, dataset.provenance), language=None, wrap_lines=True)
        st.markdown("**Link to this view**")
        st.code(link, language=None, wrap_lines=True)
        if is_own(dataset):
            st.markdown("It works here alone: your table stays in your session.")


def file_stem(page: str, dataset_name: str, fit: Fit | None, roles: ModelChoice = NO_MODEL) -> str:
    """Page, data set, settings and an unusual model as the beginning of a file name."""
    stem = dataset_name if dataset_name.startswith(page) else f"{page}-{dataset_name}"
    if fit is None:
        return stem
    model = roles.words.partition(" (")[0]  # without words of a table
    return f"{stem}-{slug(describe(fit.settings, model, fit=fit))}"


def csv_bytes(table: pd.DataFrame) -> bytes:
    """UTF-8 with a mark, so that spreadsheets read names such as “Doña Ana”; no formulas."""
    return defused(table).to_csv(index=False).encode("utf-8-sig")


def recipe_of(
    dataset: Dataset,
    fit: Fit,
    *,
    anchor: Anchor,
    roles: ModelChoice = NO_MODEL,
    table: str = "",
    columns: Columns | None = None,
) -> Recipe:
    """Return all that decides what a page shows, with nothing left open.

    Parameters
    ----------
    dataset : Dataset
        What was fitted.
    fit : Fit
    anchor : Anchor
        The statement about the scale.
    roles : ModelChoice
    table : str
        Name of a reader's own file.
    columns : Columns, optional
        What its columns are.
    """
    return Recipe(
        fit=fit.settings,
        table=table or dataset.name,
        columns=columns,
        anchor=anchor,
        roles=roles.roles,
        deaths=roles.deaths,
        detection_by=roles.by,
        surveys=dataset.counts.surveys,
        continued_from=limits_before(fit.settings),
    )


def _fitted(dataset: Dataset, fit: Fit, roles: ModelChoice) -> Dataset | None:
    """The data set with the very counts that were fitted; None where they were a part of them."""
    if dataset.counts.digest != fit.counts_digest:
        with suppress(ValueError):  # it has these roles already, and attributes are left out
            dataset = with_model(dataset, roles)
    return dataset if dataset.counts.digest == fit.counts_digest else None


def _every_entry(stem: str, dataset: Dataset, fit: Fit, roles: ModelChoice, anchor: Anchor) -> None:
    """Offer every entry, a report and the settings."""
    own = own_table() if dataset.name == "own" else None
    named = {"table": own.name, "columns": own.columns} if own is not None else {}
    recipe = recipe_of(dataset, fit, anchor=anchor, roles=roles, **named)
    if is_covid(dataset):  # names as pages have them
        table = dataset.table
        dataset = replace(dataset, table=table.assign(label=labels_of_counties(table)))
    verdict = known_verdict(dataset, fit)
    checked = "" if verdict is None else f"Model check, on held-out counts: {verdict.headline}."

    scale = recipe.anchor.scale(dataset.counts, fit)
    name = "N" if number_name(fit, scale) == "N" else "λ"

    def entries() -> bytes:
        return to_bytes(every_entry(dataset, fit, scale), "csv")

    st.markdown(
        f"**Every entry**: labels, what was reported, {name}, "
        f"p and ŷ{'' if fit.draws is None else ' with 90 % intervals'}, and the scale in words"
    )
    _button("Every entry (.csv)", entries, f"{stem}-every-entry.csv", "entries")
    left, right = st.columns(2)
    left.markdown("**A report**, one file with figures, to read, print or send")
    page = partial(report, dataset, fit, recipe, checked=checked)
    _button("Report (.html)", lambda: page().encode(), f"{stem}-report.html", "report", left)
    right.markdown("**Settings**, for `uncletc fit TABLE --settings FILE`")
    toml = f"{stem}-settings.toml"
    said = f"# Scale: {scale.statement}\n\n{recipe.to_toml()}"  # which data, too, may state
    _button("Settings (.toml)", lambda: said.encode(), toml, "settings", right)


def _button(
    label: str, data: Callable[[], bytes], file_name: str, key: str, where: Any = st
) -> None:
    where.download_button(
        label,
        data,
        file_name,
        key=f"take-{key}",
        on_click="ignore",
        width="stretch",
        help=f"Saves {file_name}",
    )
