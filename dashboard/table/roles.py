"""The role of each column of a table, a row for each; what follows; an example. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import polars as pl
import polars.selectors as cs

from dashboard.shared.text.words import read_words
from uncletc import simulate
from uncletc.tables import AttributeColumn, Columns, Guess, ModeColumn
from uncletc.tables.histories import CAPTURES

ROLES: dict[str, str] = read_words(__file__, "controls.toml")["roles"]
ONE_ONLY = ("count", "exposure", "latitude", "longitude")
ACTS_ON = {"detection": "p", "rate": "λ", "both": "λ and p"}
SIGNS = {0: "either way", 1: "only up", -1: "only down"}
STEPS = {None: "as they are", "day": "by day", "week": "by week", "month": "by month"}
CATEGORY = "categorical"
CHOSEN = "Chosen by you."

_BLOCK = 6  # columns of counts beyond which they have one row together
_PREVIEW = 14, 5  # columns and rows


def role_of(columns: Columns, name: str) -> str:
    """Return the role of a column, a key of `ROLES`."""
    if name in columns.across:
        return "across"
    if any(each.column == name for each in columns.modes):
        return "mode"
    if any(each.column == name for each in columns.attributes):
        return "attribute"
    if name in columns.groups:
        return "group"
    single = (role for role in ONE_ONLY if getattr(columns, role) == name)
    return "out" if columns.across and name == columns.count else next(single, "out")


def block_of(columns: Columns) -> tuple[str, ...]:
    """Columns of counts that are so many that they have one row together."""
    return columns.across if len(columns.across) > _BLOCK else ()


def role_table(frame: pl.DataFrame, columns: Columns, guess: Guess) -> pd.DataFrame:
    """Return a row per column, those that are used first: column, role, its options, and why.

    Options are empty where the role has none, or has the usual ones.
    """
    modes = {each.column: each for each in columns.modes}
    attributes = {each.column: each for each in columns.attributes}
    block = block_of(columns)
    rows = []
    for name in (each for each in frame.columns if each not in (*block[1:], CAPTURES)):
        attribute, mode = attributes.get(name), modes.get(name)
        role, guessed = role_of(columns, name), role_of(guess.columns, name)
        label = f"{name} … {block[-1]} ({len(block)} columns)" if name in block else name
        rows.append(
            {
                "name": name,
                "column": label,
                "role": ROLES[role],
                "acts_on": attribute and ACTS_ON[attribute.acts_on],
                "sign": attribute and (CATEGORY if attribute.category else SIGNS[attribute.sign]),
                "step": mode and STEPS[mode.step] if frame.schema[name].is_temporal() else None,
                "usual": CATEGORY if frame.schema[name] == pl.String else SIGNS[0],
                "why": guess.reasons.get(name, "") if role == guessed else CHOSEN,
            }
        )
    order = list(ROLES.values())
    return pd.DataFrame(rows).sort_values(
        "role", key=lambda roles: roles.map(order.index), kind="stable", ignore_index=True
    )


def resolved(table: pd.DataFrame, before: pd.DataFrame, guessed: pd.DataFrame) -> pd.DataFrame:
    """Return the table after roles were changed: their options are those guessed, or usual ones.

    A role that one column alone has belongs to that which was changed; beside one of several
    counts there is no single one.
    """
    found, new = table.copy(), table["role"].where(table["role"] != before["role"])
    for role in (ROLES[each] for each in ONE_ONLY):
        others = [role, ROLES["across"]] if role == ROLES["count"] else [role]
        if (new == role).any():
            found.loc[found["role"].isin(others) & (new != role), "role"] = ROLES["out"]
    if (new == ROLES["across"]).any():
        found.loc[found["role"] == ROLES["count"], "role"] = ROLES["across"]
    changed = found["role"] != before["role"]
    found.loc[changed, ["acts_on", "sign", "step", "why"]] = None, None, None, CHOSEN
    chosen = changed & (found["role"] == ROLES["attribute"])
    found.loc[chosen, "acts_on"] = ACTS_ON["detection"]
    found.loc[chosen, "sign"] = found["usual"]
    guessed = guessed.set_index("name", drop=False).reindex(found["name"]).set_axis(found.index)
    again = changed & (found["role"] == guessed["role"])
    return found.where(~again, guessed)


def columns_of(
    table: pd.DataFrame, frame: pl.DataFrame, before: Columns, across_mode: ModeColumn
) -> Columns:
    """Return the columns with these roles; what is done with rows and levels is as before.

    Parameters
    ----------
    table : DataFrame
        As :func:`role_table` returns it.
    frame : polars.DataFrame
    before : Columns
        Its modes remain in their order, others follow.
    across_mode : ModeColumn
        Of a table with several columns of counts.
    """
    block, words = block_of(before), {words: role for role, words in ROLES.items()}
    rows = {row["name"]: row for row in table.to_dict("records")}
    of: dict[str, list[str]] = {role: [] for role in ROLES}
    for name in frame.columns:
        row = rows.get(block[0] if name in block else name)
        of["out" if row is None else words[row["role"]]].append(name)
    order = [each.column for each in before.modes]
    of["mode"].sort(key=lambda name: order.index(name) if name in order else len(order))
    across = tuple(of["across"])
    return replace(
        before,
        modes=tuple(_mode(rows[name], frame) for name in of["mode"]),
        count="count" if across else next(iter(of["count"]), ""),
        across=across,
        across_mode=across_mode if across else None,
        attributes=tuple(_attribute(rows[name], frame) for name in of["attribute"]),
        groups=tuple(of["group"]),
        **{role: next(iter(of[role]), None) for role in ONE_ONLY[1:]},
    )


def _mode(row: Mapping[str, Any], frame: pl.DataFrame) -> ModeColumn:
    name, steps = row["name"], {words: step for step, words in STEPS.items()}
    step = steps.get(row["step"]) if frame.schema[name].is_temporal() else None
    return ModeColumn(column=name, step=step)


def _attribute(row: Mapping[str, Any], frame: pl.DataFrame) -> AttributeColumn:
    acts_on = next((it for it, words in ACTS_ON.items() if words == row["acts_on"]), "detection")
    sign = next((it for it, words in SIGNS.items() if words == row["sign"]), 0)
    text = frame.schema[row["name"]] == pl.String
    return AttributeColumn(
        column=row["name"],
        acts_on=acts_on,  # type: ignore[arg-type]
        sign=0 if acts_on == "rate" else sign,
        category=row["sign"] == CATEGORY or text,
    )


def with_levels_of(columns: Columns, before: Columns) -> Columns:
    """Return columns with the levels that `before` leaves out, where modes and count are the same.

    Their levels are the same then; after another choice they may not exist.
    """
    decisive = ("modes", "count", "across", "across_mode")
    if any(getattr(columns, name) != getattr(before, name) for name in decisive):
        return replace(columns, missing=(), without=(), running=None)
    return replace(columns, missing=before.missing, without=before.without, running=before.running)


def preview(frame: pl.DataFrame, columns: Columns) -> pl.DataFrame:
    """Return the first rows under the role and name of each column; those with a role first."""
    most, rows = _PREVIEW
    roles = {name: role_of(columns, name) for name in frame.columns}
    rank = {"across": 1, "out": 2}
    shown = [name for name in frame.columns if name != CAPTURES]
    if len(shown) > most:
        shown = sorted(shown, key=lambda name: rank.get(roles[name], 0))[:most]
    roles |= dict.fromkeys(columns.across, "count")
    text = cs.date() | cs.by_name(*(name for name in shown if roles[name] == "mode"))
    few = frame.select(shown).head(rows).with_columns(text.cast(pl.String))  # 2,024 is no year
    return few.rename({name: f"{ROLES[roles[name]]} · {name}" for name in shown})


def sample_table() -> pd.DataFrame:
    """Return a small simulated table in the form that a reader's own file should have."""
    counts, _ = simulate(
        (12, 10, 12), 2, observed=0.5, attributed=0.5, similar=0.1, n_attributes=3, seed=5
    )
    site, species, week = counts.indices.T
    z = counts.attributes_at(counts.indices).round(2)
    table = pd.DataFrame(
        {
            "site": [f"simulated site {i + 1:02d}" for i in site],
            "species": [f"simulated species {i + 1:02d}" for i in species],
            "week": week + 1,
            "count": counts.counts,
        }
    )
    return table.assign(wind=z[:, 0], cloud=z[:, 1], effort=z[:, 2])


def lacking(columns: Columns) -> str:
    """Return what has no column yet, as a sentence; empty where nothing lacks."""
    lacks = []
    if len(columns.modes) + bool(columns.across) < 2:
        lacks.append("two or more **modes**, such as place and week")
    if not columns.count:
        lacks.append("the **count**")
    return f"Every table needs {' and '.join(lacks)}: choose above." if lacks else ""
