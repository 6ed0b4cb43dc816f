"""Which of the other columns may say something of p or λ, and why others are left out."""

from __future__ import annotations

from collections.abc import Sequence

from uncletc.tables.columns import AttributeColumn
from uncletc.tables.profiles import Profile, share
from uncletc.tables.words import (
    count_points,
    is_attribute,
    is_category,
    is_id,
    is_made,
    is_note,
    is_running,
    is_total,
    tokens,
)

_MOST = 15
_MOST_MISSING = 0.2
_MOST_CATEGORIES = 12
_RANGE = r"^(\d+ ?(-|–|to) ?\d+|[<>≥≤]=? ?\d+|\d+ ?\+)$"


def attributes_of(
    profiles: Sequence[Profile],
    count: str,
    reasons: dict[str, str],
    *,
    of_rows: bool,
) -> tuple[AttributeColumn, ...]:
    """Choose attributes among columns without another role, and write a reason for each column.

    Parameters
    ----------
    profiles : sequence of Profile
    count : str
        The column with the counts; one of like name is made of it.
    reasons : dict
        Reasons are added here.
    of_rows : bool
        Whether each row is one count; in a wide table an attribute is of several.
    """
    found: list[AttributeColumn] = []
    for each in profiles:
        if each.name in reasons:
            continue
        why_not = _why_not(each, count, not of_rows)
        if why_not:
            reasons[each.name] = f"Left out: {why_not}."
        elif len(found) == _MOST:
            reasons[each.name] = f"Left out: {_MOST} attributes are taken already."
        else:
            category = not each.numeric
            found.append(AttributeColumn(column=each.name, category=category))
            what = f"{each.n_levels} names without order" if category else "numbers"
            shared = "" if of_rows else " that hold for all counts of a row"
            reasons[each.name] = (
                f"Attribute: {what}{shared} that detection may depend on; say so if it acts on "
                "true counts."
            )
            if each.missing:
                reasons[each.name] += (
                    f" Entries of the {each.missing:.1%} of rows without it have no attributes."
                )
    return tuple(found)


def _why_not(each: Profile, count: str, in_wide: bool) -> str:
    name = each.name
    if each.empty:
        return "it is empty"
    if each.n_levels == 1:
        return f"every row has the same value{' or none' if each.missing else ''}"
    if in_wide and is_total(name):
        return "by its name it is the sum of the counts beside it"
    if is_note(name):
        return "by its name it holds remarks"
    if each.numeric and is_running(name):
        return "by its name it is a running total of counts, which tells the count itself"
    if each.numeric and count_points(name) >= 3 and not is_attribute(name):
        return "by its name it is another count, which would tell the count itself"
    shared = {word for word in set(tokens(name)) & set(tokens(count)) if count_points(word) >= 6}
    if each.numeric and is_made(name):
        return "by its name it is a rate made of the counts, which would tell the count itself"
    if each.numeric and shared:
        return f"by its name it is made of the counts ({', '.join(sorted(shared))})"
    if each.of_day:
        return "it holds times of day; as hours, such as 13.5, it could be an attribute"
    if each.kind == "date":
        return "it is a date, and rows are named by other columns"
    if each.numbers_rows or (is_id(name) and not is_attribute(name)):
        return "it only numbers or codes rows"
    if each.mode_class and not is_attribute(name) and each.kind != "number":
        return "by its name it names entries, and other columns do so already"
    if each.missing > _MOST_MISSING:
        return f"it is empty in {each.missing:.0%} of rows"
    if each.numeric:
        return ""
    if (is_category(name) and each.n_levels <= _MOST_CATEGORIES) or each.flags:
        return ""
    numbers = each.column.cast(str).str.contains(r"^[<>~]?[+-]?\d+([.,]\d+)?[*+]?$")
    if share(numbers) > 0.8:
        first = int(
            (
                ~numbers.fill_null(True)
                | each.column.cast(str).str.contains(r"[<>~*+]$|^[<>~]").fill_null(False)
            ).arg_max()
            or 0
        )
        return (
            f"it holds numbers but for some rows, the first is data row {first + 1} with "
            f"{str(each.column[first])[:30]!r}: empty those, and read the file again"
        )
    if share(each.column.cast(str).str.contains(_RANGE)) > 0.5:
        return "it holds ranges such as 1-5, which are no counts: write one number for each"
    if each.n_levels <= _MOST_CATEGORIES:
        return (
            f"it is text with {each.n_levels} values; take it as a category if p may depend on it"
        )
    return f"it is text with {each.n_levels:,} different values"
