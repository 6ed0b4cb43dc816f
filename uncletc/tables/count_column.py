"""Which column holds the counts."""

from __future__ import annotations

from collections.abc import Sequence

from uncletc.tables.profiles import Profile, share
from uncletc.tables.values import LARGE
from uncletc.tables.words import count_points, is_fips, is_tried


def choose_count(profiles: Sequence[Profile], reasons: dict[str, str]) -> tuple[str, list[str]]:
    """Choose the column with the counts, and say why; "" and a question where none may be.

    Parameters
    ----------
    profiles : sequence of Profile
    reasons : dict of str to str
        Reasons are added here.

    Returns
    -------
    (str, list of str)
        The column, and questions that are open.
    """
    points = {each.name: _count_points(each) for each in profiles if _may_be_count(each)}
    for each in profiles:
        if count_points(each.name) >= 6 and each.kind == "number" and each.name not in points:
            reasons[each.name] = (
                "Left out: by its name a count, but it holds numbers that are not whole."
            )
    good = {name: value for name, value in points.items() if value > 0}
    if not good:
        return "", [
            "Which column holds the counts? None has whole numbers of 0 or more and a name like "
            "count, n or cases."
        ]
    count = max(good, key=lambda name: round(good[name], 1))
    named = count_points(count) > 0
    others = [n for n in good if n != count and (good[n] >= good[count] - 2.5 or not named)]
    whole = next(each for each in profiles if each.name == count).kind != "number"
    why = "by its name, and it holds" if named else "it is the column most like counts, with"
    doubt = ""
    if others:
        doubt = f" Could be the count as well: {', '.join(others[:6])}."
    what = "whole numbers" if whole else "numbers"
    reasons[count] = f"Count: {why} {what} of 0 or more.{doubt}"
    questions = [f"Is {count} the count?{doubt}"] if doubt or not named else []
    return count, questions


def _may_be_count(each: Profile) -> bool:
    """Whether it holds whole numbers of 0 or more; others only by name, and if they are large."""
    if each.flags:
        return count_points(each.name) >= 6  # seen or not
    if each.count_like and (each.n_levels > 1 or count_points(each.name) >= 6):
        return True
    if each.kind != "number" or count_points(each.name) < 6 or each.range[0] < 0:
        return False
    typical = each.column.filter(each.column > 0).median()
    return isinstance(typical, float) and typical >= LARGE


def _count_points(each: Profile) -> float:
    points = count_points(each.name)
    if each.grid or (each.mode_class and points <= 0):
        return -5.0
    if each.flags:
        return points - 4.0 * each.missing
    some = each.column.drop_nulls().cast(float)
    mean, spread = some.mean(), some.std()
    assert isinstance(mean, float)
    varied = isinstance(spread, float) and spread**2 > mean
    points += 1.0 * varied - 4.0 * each.missing
    points += 0.5 * (points < 6 and bool((some == 0).any()))
    points -= (
        8.0 * each.numbers_rows
        + (1.0 if points >= 6 else 3.0) * each.designed
        + 6.0 * is_fips(each.name)
    )
    points -= 1.0 * (share(some == 0) > 0.5)
    points -= 2.0 * share(some < 0) + 1.0 * is_tried(each.name)
    return points
