"""Numbers in sentences. Pure."""

from __future__ import annotations

import re

WHISKERS = (
    "Whiskers: 90 % intervals. They reflect chance in the counts, not errors of the model itself; "
    "long ones are cut off at the edge."
)

SCALE_IN_WHISKERS = (
    " They hold how uncertain the scale is, too, which moves all p together and no rank."
)

P_IS_THE_SAME = "p is the same everywhere: no attribute acts on detection."

NO_INTERVALS = "Intervals come with the joint solver, once the fit has finished."


def escape(text: str) -> str:
    """Text from an address or a file as it is, for Markdown: in a code span nothing is markup.

    Backslashes are not enough, since Streamlit puts icons and arrows into text by itself.
    """
    line = " ".join(text.split())
    runs = re.findall("`+", line)
    fence = "`" * (1 + max(map(len, runs), default=0))
    pad = " " if runs else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def capital(text: str) -> str:
    """Return it with a capital first letter, and the rest as it is: a name in capitals stays."""
    return text[:1].upper() + text[1:]


def plural(n: int, one: str, many: str = "") -> str:
    """A number of things: "1 row", "2,000 rows"; `many` where an s is not enough."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def times(ratio: float) -> str:
    """A ratio as a reader needs it: "0.4 times", "1.4 times", "12 times", "more than 100 times"."""
    if ratio > 100:
        return "more than 100 times"
    if ratio < 0.01:
        return "less than 0.01 times"
    if ratio < 1:
        return f"{ratio:.2g} times"
    digits = 2 if ratio < 1.1 else 1 if ratio < 10 else 0  # 1.04 is not the same as 1
    return f"{ratio:.{digits}f} times"


UNLIKELY = 20.0  # the same ratio, beyond which p is hardly detection alone
_ALIKE = 1.15  # ratio of the 95th to the 5th percentile of p, below which p hardly differs


def caution(ratio: float) -> str | None:
    """What to say when the spread of p is too small or too large to believe; None otherwise."""
    if ratio < _ALIKE:
        return (
            "This fit found almost no difference in detection: with these settings the counts do "
            "not show that the attributes matter. The order of places or pairs by p says nothing."
        )
    if ratio > UNLIKELY:
        return (
            "Differences this large are unlikely to be detection alone. Real counts vary more than "
            "the model allows, and p may have absorbed differences that belong to λ. Compare other "
            "ranks and seeds before you trust a value."
        )
    return None
