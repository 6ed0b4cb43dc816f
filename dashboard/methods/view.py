"""The paper's tables as the page "Methods" shows them. Pure: frames and choices in, views out.

Results are long frames as :func:`uncletc.paper.tables.committed` returns them; a row is one
method in one column of one table under one metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from dashboard.methods.words import METRICS, REAL, metric_of, number, spread
from dashboard.shared.text.scripts import call, script
from uncletc import PAPER_METHODS, CountTensor
from uncletc.datasets import Dataset, Provenance
from uncletc.paper import tables

OURS = "UncleTC"
EXACT = "exact"
MAIN_TABLES = ("table-1", "table-2", "table-3")
_DATA = {"covid": "COVID-19", "ppi": "Plant–pollinator"}
_KINDS = {"entry": "single entries hidden", "fibre": "whole places or pairs hidden"}


def paper_rows(summary: pd.DataFrame | None, real: pd.DataFrame | None) -> pd.DataFrame:
    """All committed tables as one frame; real data as a table of their own.

    Parameters
    ----------
    summary, real : DataFrame, optional
        As :func:`uncletc.paper.tables.committed` returns them; None where they are not here.
    """
    parts = [] if summary is None else [summary]
    if real is not None:
        kinds = real["kind"].map(_KINDS).fillna(real["kind"])
        column = real["data"].map(_DATA).fillna(real["data"]) + ": " + kinds
        real_rows = real.assign(table=REAL, reading=EXACT, column=column, floor=np.nan)
        # The paper hides single entries; its figures say nothing of whole places.
        real_rows.loc[real["kind"] != "entry", ["paper_mean", "paper_sd"]] = np.nan
        parts.append(real_rows)
    columns = ["table", "reading", "column", "method", "metric", "mean", "sd", "n", "seconds"]
    columns += ["paper_mean", "paper_sd", "floor"]
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)


def committed(name: Literal["summary", "curves", "real"]) -> pd.DataFrame | None:
    """Results that come with the program, or None where they did not."""
    try:
        return tables.committed(name)
    except FileNotFoundError:
        return None


def committed_rows() -> pd.DataFrame:
    """All committed means in one frame; empty where there are none."""
    return paper_rows(committed("summary"), committed("real"))


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperView:
    """One table under one metric.

    Attributes
    ----------
    rows : DataFrame
        column, method, mean, sd, n, seconds, paper_mean, paper_sd; of the chosen methods, in the
        order of :data:`uncletc.PAPER_METHODS`.
    floors : dict of str to float
        Error of a fit that knows p, by column.
    limits : tuple of float
        What an axis must hold, for any choice of methods.
    table : DataFrame
        Methods × columns as text: ours (the paper's).
    insight : str
        The finding, over all methods of the table; empty where there is nothing to rank.
    trials : str
        How many trials stand behind a mean: "20", or "5 to 20".
    """

    rows: pd.DataFrame
    floors: dict[str, float]
    limits: tuple[float, float]
    table: pd.DataFrame
    insight: str
    trials: str

    @property
    def printed(self) -> bool:
        """Whether the paper prints any of these figures."""
        return bool(self.rows["paper_mean"].notna().any())


def methods_of(rows: pd.DataFrame, table: str) -> list[str]:
    """Methods that a table has, in the order of the registry; the floor is none."""
    return [m for m in _values(rows, table, "method", PAPER_METHODS) if m != tables.KNOWN]


def metrics_of(rows: pd.DataFrame, table: str) -> list[str]:
    """Metrics that a table has, the well known ones first."""
    return _values(rows, table, "metric", METRICS)


def readings_of(rows: pd.DataFrame, table: str) -> list[str]:
    """Readings that a table has."""
    return _values(rows, table, "reading", ())


def _values(rows: pd.DataFrame, table: str, column: str, first: Iterable[str]) -> list[str]:
    """What a column of a table holds, what `first` names first and in its order."""
    present = dict.fromkeys(rows.loc[rows["table"] == table, column])
    return [each for each in dict.fromkeys((*first, *present)) if each in present]


def paper_view(
    rows: pd.DataFrame, *, table: str, metric: str, methods: Sequence[str], reading: str = EXACT
) -> PaperView:
    """Choose one table, metric and reading, and some methods.

    Parameters
    ----------
    rows : DataFrame
        See :func:`paper_rows`.
    table, metric, reading : str
    methods : sequence of str
        The methods to show; the insight is about all of them.
    """
    chosen = (rows["table"] == table) & (rows["metric"] == metric) & (rows["reading"] == reading)
    part = rows[chosen]
    order = {m: i for i, m in enumerate(methods_of(rows, table))}
    columns = list(part["column"].unique())
    p_known = part[part["method"] == tables.KNOWN].set_index("column")["mean"]
    stated = part.dropna(subset="floor").groupby("column")["floor"].first()
    floors = {str(c): float(v) for c, v in (p_known.to_dict() | stated.to_dict()).items()}
    rivals = part[part["method"].isin(order)]
    shown = rivals[rivals["method"].isin(methods)]
    shown = shown.sort_values("method", key=lambda m: m.map(order), kind="stable")
    shown = shown.sort_values("column", key=lambda c: c.map(columns.index), kind="stable")
    n = sorted({int(value) for value in rivals["n"].dropna()})
    return PaperView(
        rows=shown.reset_index(drop=True),
        floors=floors,
        limits=_limits(rivals, floors),
        table=_text(shown, columns),
        insight=finding(rivals, metric),
        trials=f"{n[0]} to {n[-1]}" if len(n) > 1 else "".join(map(str, n)),
    )


def _limits(rivals: pd.DataFrame, floors: dict[str, float]) -> tuple[float, float]:
    highest = rivals["mean"] + rivals["sd"].fillna(0)
    values = pd.concat([rivals["mean"], rivals["paper_mean"], highest, pd.Series(floors)])
    values = values.astype(float).dropna()
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _text(shown: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Ours (the paper's), methods × columns."""
    cells: dict[str, dict[str, str]] = {c: {} for c in columns}
    for row in shown.itertuples():
        ours, papers = spread(row.mean, row.sd), spread(row.paper_mean, row.paper_sd)
        cells[row.column][row.method] = ours if papers == "–" else f"{ours} ({papers})"
    return pd.DataFrame(cells, index=list(shown["method"].unique())).fillna("–")


def finding(rivals: pd.DataFrame, metric: str) -> str:
    """In how many columns UncleTC is best, and who is ahead elsewhere, counted.

    Parameters
    ----------
    rivals : DataFrame
        table, column, method, mean, paper_mean, under one metric and one reading.
    metric : str
    """
    described = metric_of(metric)
    rivals = rivals[rivals["method"].isin(PAPER_METHODS)].dropna(subset="mean")
    groups = [
        (column, part.set_index("method")["mean"])
        for (_, column), part in rivals.groupby(["table", "column"], sort=False)
        if OURS in set(part["method"]) and len(part) > 1
    ]
    if described.better is None or not groups:
        return ""
    sign, most, side = (
        (1, "smallest", "below") if described.better == "lower" else (-1, "largest", "above")
    )
    behind = []
    for column, means in groups:
        best = (sign * means).idxmin()
        if means[best] != means[OURS]:
            behind.append(f"{column}, {best} ({number(means[best])} against {number(means[OURS])})")
    n, best_of = len(groups), f"the {most} {described.words}"
    if n == 1:
        words = f"**UncleTC {'does not have' if behind else 'has'} {best_of}**"
    else:
        words = f"**UncleTC has {best_of} in {n - len(behind) or 'none'} of {n} columns**"
    others = "; ".join(behind)
    words += f"; {'ahead' if n == 1 else 'ahead elsewhere'}: {others}." if behind else "."
    ours = rivals[rivals["method"] == OURS].dropna(subset="paper_mean")
    if ours.empty:
        return words
    better = int((sign * ours["mean"] < sign * ours["paper_mean"]).sum())
    return (
        f"{words} Run here, its {described.words} is {side} the one printed in the paper in "
        f"{better} of {len(ours)}."
    )


def overall_finding(rows: pd.DataFrame) -> str:
    """The finding over Tables 1 to 3, for λ."""
    chosen = rows["table"].isin(MAIN_TABLES) & (rows["metric"] == "MAE_λ")
    words = finding(rows[chosen & (rows["reading"] == EXACT)], "MAE_λ")
    return f"Over Tables 1 to 3: {words}" if words else ""


def titles(rows: pd.DataFrame, curves: pd.DataFrame | None) -> dict[str, str]:
    """What each table and figure with results is called, by id; figures last."""
    present = set(rows["table"]) | (set() if curves is None else set(curves["figure"]))
    names = {key: each.title for key, each in {**tables.TABLES, **tables.FIGURES}.items()}
    order = [*tables.TABLES, REAL, *tables.FIGURES]
    names[REAL] = "Real data: predicted against hidden counts"
    return {key: names[key] for key in order if key in present}


def curve_table(curves: pd.DataFrame, *, figure: str, metric: str) -> pd.DataFrame:
    """Rows of a figure of errors over iterations under one metric."""
    return curves[(curves["figure"] == figure) & (curves["metric"] == metric)]


def curve_finding(curves: pd.DataFrame, *, figure: str, metric: str) -> str:
    """Who has the smallest error at the last iteration of each setting, counted."""
    part = curve_table(curves, figure=figure, metric=metric)
    last = part[part["iteration"] == part["iteration"].max()]
    last = last.assign(table=figure, column=last["setting"], paper_mean=np.nan)
    words = finding(last, metric)
    return f"At the last iteration: {words}" if words else ""


def paper_dataset(*, real: bool) -> Dataset:
    """Return what a citation of the tables says about their data."""
    title, period = "Simulations of the paper's tables", "no period: drawn from the model"
    if real:
        title = "Real data, see the pages COVID-19 and Plant–pollinator"
        period = "see their sources"
    return Dataset(
        name="paper",
        title=title,
        counts=CountTensor((1, 1), [], [], simulated=not real),
        table=pd.DataFrame(),
        provenance=Provenance(simulated=not real, period=period, sources=(), rules=()),
    )


def paper_script(view: PaperView, *, table: str, metric: str, reading: str) -> str:
    """Return a script that prints the rows of a view of a table of the paper."""
    methods = list(view.rows["method"].unique())
    chosen = {"table": table, "metric": metric, "methods": methods, "reading": reading}
    return script(call(paper_view, call(committed_rows), take=".rows", **chosen))


def curve_script(figure: str, metric: str) -> str:
    """Return a script that prints the rows of a figure of the paper."""
    return script(call(curve_table, call(tables.committed, "curves"), figure=figure, metric=metric))
