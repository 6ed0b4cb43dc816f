"""The paper's tables: what they are called, and results of running them here.

``python -m benchmarks.paper`` of a checkout runs them all; :func:`committed` reads its results,
which come with the project, beside the paper's own numbers.

Examples
--------
>>> from uncletc.paper import tables
>>> found = tables.committed("summary")
>>> one = found.query("method == 'UncleTC' and reading == 'exact' and metric == 'MAE_p'")
>>> float(one.set_index("column")["paper_mean"]["γ_Ω = .05"])
0.156
"""

from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from uncletc.common.validation import check_choice

Results = Literal["summary", "curves", "real", "trials"]

KNOWN = "p known"
"""A method that knows every p: its errors are those of λ alone."""

TITLES = {
    "table-1": "Table 1: more or fewer counts, γ_Ω",
    "table-2": "Table 2: how alike the attributes of Θ are, SNR",
    "table-3": "Table 3: how many attributes are alike, γ_Θ",
    "table-4": "Table 4: the free scale, λ̂/λ and p̂/p in each trial",
    "appendix-rank": "Appendix: other ranks F",
    "appendix-wrong-rank": "Appendix: wrong ranks F̂, the true one being 7",
    "appendix-mu": "Appendix: how strongly p is held to g(z), μ",
    "iterations": "Figure: errors over iterations, Ω and Ξ in each order",
}
"""What each table or figure shows, paraphrasing the paper's caption."""


def committed(name: Results) -> pd.DataFrame:
    """Read results shipped with the project.

    Parameters
    ----------
    name : {"summary", "curves", "real", "trials"}
        ``summary``: table, reading, column, method, metric, mean, sd, median, n, seconds,
        paper_mean, paper_sd, floor (mean MAE_λ with p known); ``curves``: figure, setting, method,
        metric, iteration, mean, sd, n; ``real``: data, kind, method, metric, mean, sd, n,
        settings, seconds, paper_mean, paper_sd; ``trials``: table, reading, column, method,
        metric, seed, value, seconds.

    Examples
    --------
    >>> table = committed("summary").query("table == 'table-1' and method == 'UncleTC'")
    >>> sorted(table["metric"].unique())
    ['MAE_p', 'MAE_p, all entries', 'MAE_p, own p over Ω', 'MAE_λ']
    """
    check_choice("name", name, get_args(Results))
    package = Path(__file__).resolve().parents[1]
    folder = package / "_data" / "paper"
    if not folder.exists():  # in a checkout
        folder = package.parent / "benchmarks" / "results" / "paper"
    return pd.read_csv(folder / f"{name}.csv")
