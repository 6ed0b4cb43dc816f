"""The page "Methods": frames, results and choices in, tables and sentences out. Pure.

The paper's tables are long frames as :func:`uncletc.paper.tables.committed` returns them; a row is
one method in one column of one table under one metric. Results of methods compared on hidden counts
are what :mod:`dashboard.work.orders` gives, plain numbers by name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from dashboard.shared.sidebar.model import RECOMMENDED
from dashboard.shared.text.words import escape, read_words
from dashboard.work.orders import N_FOLDS
from uncletc import PAPER_METHODS, CountTensor, compare
from uncletc.datasets import Dataset, Provenance
from uncletc.paper import tables

REAL = "real-data"
ABOUT = read_words(__file__, "about.toml")


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a metric is called, and which way is better.

    Attributes
    ----------
    axis : str
        On an axis.
    better : {"lower", "higher"} or None
    help : str
        What it is, in a sentence.
    """

    axis: str
    better: Literal["lower", "higher"] | None = "lower"
    help: str = ""


METRICS = {name: Metric(**values) for name, values in read_words(__file__, "metrics.toml").items()}


def metric_of(name: str) -> Metric:
    """What a metric is called; an unknown one has its name, and no better side."""
    return METRICS.get(name, Metric(axis=name, better=None))


def number(value: float) -> str:
    """A number of a table: 3 decimals, or fewer digits where it is large."""
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.4g}" if value < 1e6 else f"{value:.2e}"


def spread(mean: float, sd: float) -> str:
    """Mean ± standard deviation, without it where it is not known; "–" for nothing."""
    if np.isnan(mean):
        return "–"
    return number(mean) if np.isnan(sd) else f"{number(mean)}\u00a0±\u00a0{number(sd)}"


OURS = "UncleTC"
EXACT = "exact"
ORACLE = "Oracle (p known)"
_MANY = 6  # columns beyond which a table is turned
MAIN_TABLES = ("table-1", "table-2", "table-3")
_DATA = {"covid": "COVID-19", "ppi": "Plant–pollinator"}
_KINDS = {"entry": "single entries hidden", "fibre": "whole places or pairs hidden"}


def paper_rows() -> pd.DataFrame:
    """Return all means that come with the program; real data as a table of their own."""
    real = tables.committed("real")
    column = real["data"].map(_DATA) + ": " + real["kind"].map(_KINDS)
    real_rows = real.assign(table=REAL, reading=EXACT, column=column, floor=np.nan)
    # The paper hides single entries; its figures say nothing of whole places.
    real_rows.loc[real["kind"] != "entry", ["paper_mean", "paper_sd"]] = np.nan
    columns = ["table", "reading", "column", "method", "metric", "mean", "sd", "n", "seconds"]
    columns += ["paper_mean", "paper_sd", "floor"]
    parts = (part.reindex(columns=columns) for part in (tables.committed("summary"), real_rows))
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(column=rows["column"].str.replace("= .", "= 0.", regex=False))


@dataclass(frozen=True, eq=False, kw_only=True)
class PaperView:
    """One table under one metric.

    Attributes
    ----------
    rows : DataFrame
        column, method, mean, sd, n, seconds, paper_mean, paper_sd; in the order of
        :data:`uncletc.PAPER_METHODS`.
    table : DataFrame
        Methods × columns as Markdown, turned where there are many columns: ours (the paper's), the
        best of a column in bold, and where it is known the error of a fit that knows p.
    trials : str
        Over how many trials a mean is taken: "20", or "5 to 20".
    """

    rows: pd.DataFrame
    table: pd.DataFrame
    trials: str


def values_in(rows: pd.DataFrame, table: str, column: str, first: Iterable[str] = ()) -> list[str]:
    """What a column of a table holds, what `first` names first and in its order."""
    present = dict.fromkeys(rows.loc[rows["table"] == table, column])
    return [each for each in dict.fromkeys((*first, *present)) if each in present]


def paper_view(rows: pd.DataFrame, *, table: str, metric: str, reading: str = EXACT) -> PaperView:
    """Return one table under one metric and one simulation setup.

    Parameters
    ----------
    rows : DataFrame
        See :func:`paper_rows`.
    table, metric, reading : str
    """
    chosen = (rows["table"] == table) & (rows["metric"] == metric) & (rows["reading"] == reading)
    part = rows[chosen]
    order = [m for m in values_in(rows, table, "method", PAPER_METHODS) if m != tables.KNOWN]
    columns = list(part["column"].unique())
    p_known = part[part["method"] == tables.KNOWN].set_index("column")["mean"]
    stated = part.dropna(subset="floor").groupby("column")["floor"].first()
    floors = p_known.to_dict() | stated.to_dict()
    shown = part[part["method"].isin(order)]
    rank = [*columns, *order].index
    shown = shown.sort_values(["column", "method"], key=lambda names: names.map(rank))
    n = sorted({int(value) for value in shown["n"].dropna()})
    return PaperView(
        rows=shown.reset_index(drop=True),
        table=_text(shown, columns, floors, metric_of(metric).better),
        trials=f"{n[0]} to {n[-1]}" if len(n) > 1 else "".join(map(str, n)),
    )


def _text(
    shown: pd.DataFrame, columns: list[str], floors: dict[Any, float], better: str | None
) -> pd.DataFrame:
    """Return ours (the paper's) as Markdown; see :class:`PaperView`."""
    methods = [*shown["method"].unique(), *([ORACLE] if floors else [])]
    table = pd.DataFrame("–", index=methods, columns=columns)
    means = shown.groupby("column")["mean"]
    best = means.min() if better == "lower" else means.max()
    for row in shown.itertuples():
        ours, papers = spread(row.mean, row.sd), spread(row.paper_mean, row.paper_sd)
        if better is not None and row.mean == best[row.column]:
            ours = f"**{ours}**"
        table.loc[row.method, row.column] = ours if papers == "–" else f"{ours} ({papers})"
    for column, value in floors.items():
        table.loc[ORACLE, column] = number(value)
    return table.T if len(columns) > _MANY else table


def overall_finding(rows: pd.DataFrame) -> str:
    """In how many columns of Tables 1 to 3 UncleTC has the smallest error of λ, and who has else.

    Empty without any.
    """
    chosen = rows["table"].isin(MAIN_TABLES) & (rows["metric"] == "MAE_λ")
    chosen &= (rows["reading"] == EXACT) & rows["method"].isin(PAPER_METHODS)
    rivals = rows[chosen].dropna(subset="mean")
    behind, n = [], 0
    for (_, column), part in rivals.groupby(["table", "column"], sort=False):
        means = part.set_index("method")["mean"]
        if OURS not in means or len(means) < 2:
            continue
        n, best = n + 1, means.idxmin()
        if means[best] != means[OURS]:
            behind.append(f"{column}, {best} ({number(means[best])} against {number(means[OURS])})")
    if not n:
        return ""
    words = "Over Tables 1 to 3, all run here: **UncleTC has the smallest error of λ in "
    words += f"{n - len(behind) or 'none'} of {n} columns**"
    return words + (f"; ahead elsewhere: {'; '.join(behind)}." if behind else ".")


def titles(rows: pd.DataFrame) -> dict[str, str]:
    """Return what each table with results is called, by id; real data last."""
    names = tables.TITLES | {REAL: "Real data: predicted against hidden counts"}
    return {key: name for key, name in names.items() if key in set(rows["table"])}


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
        provenance=Provenance(simulated=not real, period=period, sources=(), rules=()),
    )


Result = Mapping[str, Any]
FIELDS = {
    "log score": "log_score",
    "deviance": "deviance",
    "rRMSE": "rrmse",
    "MAE": "mae",
    "AUROC": "auroc",
    "coverage": "coverage",
}
# Of a first comparison: ours, a fast one of the paper, and two common baselines.
DEFAULT_METHODS = [
    RECOMMENDED,
    "UncleTC",
    "UncleTC(Linear)",
    "NTF-CPD-KL",
    "Main effects",
    "LightGBM",
]
LOG_SCORE = "log score"  # one number for large and small counts, and for how widely they scatter


def scores_table(results: Mapping[str, Result]) -> pd.DataFrame:
    """Return mean and standard error of every measure over the folds of each method.

    Parameters
    ----------
    results : mapping of str to result
        By method; those that have finished. The best by `LOG_SCORE` is first.

    Returns
    -------
    DataFrame
        method, folds, each of :data:`FIELDS` with its "± …" (NaN: one fold), seconds in all.
    """
    trials = pd.DataFrame(
        [{"method": method, **each} for method, all_ in results.items() for each in all_["trials"]]
    )
    methods = trials.groupby("method", sort=False)
    table = pd.DataFrame({"folds": methods.size()})
    for name, field in FIELDS.items():
        table[name], table[f"± {name}"] = methods[field].mean(), methods[field].sem()
    table = table.assign(seconds=methods["seconds"].sum()).reset_index()
    return table.sort_values(LOG_SCORE, kind="stable", ignore_index=True)


def rounded(table: pd.DataFrame) -> pd.DataFrame:
    """The same with four digits at most, as 4.341 and 48.89; seconds with one decimal."""
    scores = table.select_dtypes("number").map(lambda value: float(f"{value:.4g}"))
    return table.assign(**scores).round({"seconds": 1})


def comparison(results: Mapping[str, Result]) -> str:
    """Which method predicts best, and in how many folds; empty with fewer than two methods."""
    values = pd.DataFrame(
        {
            method: pd.Series([each[FIELDS[LOG_SCORE]] for each in result["trials"]], dtype=float)
            for method, result in results.items()
        }
    )
    means = values.mean().dropna()
    if len(means) < 2:
        return ""
    first, second = means.sort_values(kind="stable").index[:2]
    both = values[[first, second]].dropna()
    won = int((both[first] < both[second]).sum())
    words = (
        f"**{first} predicts hidden counts best**: {LOG_SCORE} {number(means[first])}, then "
        f"{second} with {number(means[second])}"
    )
    if len(both) == 1:
        return words + ". One fold only: another may reverse it."
    gap = compare.Difference.of([both[second] - both[first]])
    words += (
        f"; it is ahead in {won} of {len(both)} folds, by {number(gap.mean)} ± {number(gap.error)} "
        "(standard error over folds)."
    )
    if not gap.clear:
        words += " Folds differ by more than this: do not rely on the difference."
    return words


def what_is_hidden(counts: CountTensor, kind: compare.FoldKind) -> str:
    """What one fold hides, in words of the data."""
    if kind == "entry":
        return f"a random fifth of all counts, {len(counts.counts) // N_FOLDS:,}"
    *places, last = map(escape, counts.modes)
    return f"all counts of a fifth of all {' – '.join(places)} combinations, on every {last}"
