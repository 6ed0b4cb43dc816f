"""Where UncleTC is ahead of every other method, and where not: judged by the code, not by hand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from uncletc.baselines import METHODS
from uncletc.paper.tables.definitions import KNOWN, PAPERS_OWN, READINGS, TABLES, Table

OURS = "UncleTC"
_MAIN = ("table-1", "table-2", "table-3")
_CELL = ["table", "reading", "column"]


def standings(trials: pd.DataFrame, tables: Mapping[str, Table] = TABLES) -> pd.DataFrame:
    """UncleTC against each other method on MAE_λ, cell by cell, trial by trial.

    Parameters
    ----------
    trials : DataFrame
        As in ``trials.csv``.
    tables : mapping of str to Table

    Returns
    -------
    DataFrame
        table, reading, column, method (the other one), ours, theirs (means over the trials that
        both have), ahead (trials in which UncleTC's error is less), n, ours_median, theirs_median,
        known (mean error with p known).
    """
    names = [*_CELL, "method", "ours", "theirs", "ahead", "n", "ours_median", "theirs_median"]
    rows = []
    rate = trials[(trials["metric"] == "MAE_λ") & trials["value"].notna()]
    for table in tables.values():
        for column, reading in product(table.columns, READINGS):
            cell = (table.id, reading, column.label)
            here = rate[(rate[_CELL] == pd.Series(cell, _CELL)).all(axis=1)]
            wide = here.pivot_table(index="seed", columns="method", values="value")
            known = wide[KNOWN].mean() if KNOWN in wide else np.nan
            for other in (*METHODS, PAPERS_OWN):
                if other == OURS or not {OURS, other} <= set(wide):
                    continue
                ours, theirs = (wide[[OURS, other]].dropna()[name] for name in (OURS, other))
                if len(ours):
                    ahead = int((ours < theirs).sum())
                    means = ours.mean(), theirs.mean(), ahead, len(ours)
                    rows.append([*cell, other, *means, ours.median(), theirs.median(), known])
    return pd.DataFrame(rows, columns=[*names, "known"])


def claims(trials: pd.DataFrame, tables: Mapping[str, Table] = TABLES) -> list[str]:
    """The section of the report on where UncleTC is ahead on MAE_λ."""
    found = standings(trials, tables)
    if not len(found):
        return []
    cells = found.drop_duplicates(_CELL)
    behind = found[found["ours"] >= found["theirs"]]
    lost = behind.drop_duplicates(_CELL)
    first = found[found["table"].isin(_MAIN)]
    won = first[first["ours"] < first["theirs"]].groupby(_CELL).size()
    all_of = first.groupby(_CELL).size()
    main = int((won.reindex(all_of.index, fill_value=0) == all_of).sum())
    parts = [
        "## Where UncleTC is not ahead",
        f"Tables 1 to 3: its mean MAE_λ is less than that of all the others in {main} of "
        f"{len(all_of)} cells (both readings).",
        f"All tables: UncleTC is ahead of every other method in {len(cells) - len(lost)} of "
        f"{len(cells)} cells"
        + (
            ". It is not in these:"
            if len(lost)
            else ": there is no cell in which another method has the smaller mean."
        ),
    ]
    if len(lost):
        parts.append("\n".join(_behind(row) for row in behind.to_dict("records")))
    narrow = found[(found["ours"] < found["theirs"]) & (found["ahead"] < 0.75 * found["n"])]
    if len(narrow):
        parts += [
            "Its mean is less, but in more than a quarter of the trials the other method does "
            "better:",
            "\n".join(
                f"- {_name(row)}: ahead of {row['method']} in {row['ahead']} of {row['n']} trials"
                for row in narrow.to_dict("records")
            ),
        ]
    return parts


def _behind(row: Mapping[Hashable, Any]) -> str:
    text = (
        f"- {_name(row)}: {row['method']} has {row['theirs']:.3f}, UncleTC {row['ours']:.3f} "
        f"(medians {row['theirs_median']:.3f} and {row['ours_median']:.3f}; UncleTC is ahead in "
        f"{row['ahead']} of {row['n']} trials)"
    )
    if row["ours"] < 1.05 * row["theirs"]:
        text += "; all but equal"
    elif row["ours_median"] < 0.9 * row["theirs_median"]:
        text += "; a few trials with large errors decide the mean"
    if not np.isnan(row["known"]) and row["ours"] < 1.1 * row["known"]:
        text += f"; with p known the error is {row['known']:.3f}, so little is left to gain"
    return text


def _name(row: Mapping[Hashable, Any]) -> str:
    return f"{row['table']}, {row['column']}, {row['reading']}"
