"""Numbers, days and words in sentences. Pure."""

import math
import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

from uncletc import CountTensor

WHISKERS = "Whiskers: 90 % intervals. They cover chance in the counts, not errors of the model."

P_IS_THE_SAME = "p is assumed to be the same everywhere, as no covariate here affects detection."

NO_INTERVALS = "Intervals come with the joint solver, once the fit has finished."

INTERVALS = {True: WHISKERS, False: NO_INTERVALS}  # by whether a fit has them


def read_words(beside: str, name: str) -> dict[str, Any]:
    """Read a TOML file in the folder of a module: words and limits of what that declares."""
    return tomllib.loads(Path(beside).with_name(name).read_text(encoding="utf-8"))


_LEAST = 0.01  # ratio below which no number of times is written
_PLAIN = re.compile(r"(?:% )?[^\W_](?:[\w .,()/%'°²³×+–-]*[^\W_ ])?[)%]?")
_MARKUP = re.compile(r"--|\bwww\.|^\d+[.)] |_ | _", re.IGNORECASE)


def escape(text: str) -> str:
    """Return a name from a file or an address for Markdown: as it is, or in a code span.

    Every name that a reader's table may give to a mode, a level, an attribute or a file goes
    through it before it stands in a label, an option, a heading or a caption: a name that reads
    ``![p](http://…)`` would make the browser ask another machine. Backslashes are not enough, since
    Streamlit puts icons, colours and arrows into text by itself; in a code span nothing is markup.

    Examples
    --------
    >>> escape("site 3"), escape("**k**"), escape("a`b")
    ('site 3', '`**k**`', '`` a`b ``')
    """
    line = " ".join(text.split())
    if _PLAIN.fullmatch(line) and not _MARKUP.search(line):
        return line
    runs = re.findall("`+", line)
    fence = "`" * (1 + max(map(len, runs), default=0))
    pad = " " if runs else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def escape_sentence(text: str) -> str:
    r"""Return a sentence that quotes a reader's own words, for Markdown: nothing in it is markup.

    Word joiners, which nobody sees, part what Streamlit itself would read: colours, icons, arrows.

    Examples
    --------
    >>> escape_sentence("a *mode* is missing")
    'a \\*mode\\* is missing'
    """
    line = re.sub(r"([\\`*_{}\[\]<>()#+!|~$])", r"\\\1", " ".join(text.split()))
    return re.sub(r"(:(?=\S)|-(?=[-\\])|www(?=\.))", "\\1\u2060", line, flags=re.IGNORECASE)


def shape_words(counts: CountTensor) -> str:
    """How many levels each mode has: "30 sites × 12 weeks"."""
    pairs = zip(counts.shape, counts.modes, strict=True)
    return " × ".join(plural(size, mode) for size, mode in pairs)


def capital(text: str) -> str:
    """Return it with a capital first letter, and the rest as it is: a name in capitals stays."""
    return text[:1].upper() + text[1:]


def slug(words: str, between: str = "-") -> str:
    """Return words as a part of a file name, or of a key in the address.

    Examples
    --------
    >>> slug("rank 5, μ estimated, network 3 × 20 units, seed 0")
    'rank-5-mu-estimated-network-3-x-20-units-seed-0'
    """
    ascii_only = words.lower().replace("μ", "mu").replace("×", "x").replace("λ", "lambda")
    return re.sub(r"[^a-z0-9]+", between, ascii_only).strip(between)


def plural(n: int, one: str) -> str:
    """A number of things: "1 row", "2,000 rows"; a name that is no plain word stays as it is.

    Examples
    --------
    >>> plural(3, "pass"), plural(2, "county"), plural(2, "species"), plural(2, "Begehung")
    ('3 passes', '2 counties', '2 species', '2 Begehung')
    """
    if n != 1 and re.fullmatch(r"[a-z -]*([a-rt-z]|ss)", one):
        if re.search(r"([sxz]|[cs]h)$", one):
            one += "es"
        else:
            one = re.sub(r"(?<=[^aeiou])y$", "ie", one) + "s"
    return f"{n:,} {escape(one)}"


def times(ratio: float) -> str:
    """A ratio as a reader needs it: "0.4 times", "1.4 times", "12 times", "more than 100 times"."""
    if ratio > 100:
        return "more than 100 times"
    return f"less than {_LEAST} times" if ratio < _LEAST else f"{factor(ratio)} times"


def factor(ratio: float, like: float | None = None) -> str:
    """The number of a ratio, with the decimals of another: "0.4", "1.04", "1.4", "12"."""
    like = ratio if like is None else like
    if like < 1:
        return f"{ratio:.2g}"
    digits = 2 if like < 1.1 else 1 if like < 10 else 0  # 1.04 is not the same as 1
    return f"{ratio:.{digits}f}"


def amount(value: float, least: float = 0.0) -> str:
    """A number of events as a reader needs it, and never below `least`: "61,000", "4.2", "0.03"."""
    rounded = float(f"{value:.3g}")
    if value == least or rounded < least < value:
        rounded = least
    return f"{rounded:,.0f}" if abs(rounded) >= 100 or rounded == least > 0 else f"{rounded:.3g}"


def span(low: float, high: float, least: float = 0.0) -> str:
    """Both ends of an interval of amounts, with the same decimals.

    Examples
    --------
    >>> span(35, 56.14), span(1140, 1784), span(0.911, 1.56), span(33, 39, least=33)
    ('35.0–56.1', '1,140–1,780', '0.91–1.56', '33.0–39.0')
    """
    low, high = max(low, least), max(high, least)
    if high >= 99.95 or high <= 0:
        return f"{amount(low, least)}–{amount(high, least)}"
    digits = 2 - math.floor(math.log10(high))
    return f"{low:.{digits}f}–{high:.{digits}f}"


UNLIKELY = 20.0  # ratio of the 95th to the 5th percentile of p, beyond which it is not p alone
ALIKE = 1.15  # ratio of the 95th to the 5th percentile of p, below which p hardly differs


def caution(ratio: float) -> str | None:
    """What to say when the spread of p is too small or too large to believe; None otherwise."""
    if ratio < ALIKE:
        return "Almost no difference in detection: with these settings the order by p says nothing."
    if ratio > UNLIKELY:
        return (
            "Differences this large are unlikely to be detection alone: p may have absorbed "
            "differences that belong to λ. Compare other models and seeds."
        )
    return None


DAY_AXIS: dict[str, Any] = {
    "type": "date",
    "tickformat": "%-d %b",  # where steps are less than a month, the year is clear
    "tickformatstops": [{"dtickrange": ["M1", None], "value": "%b %Y"}],
    "hoverformat": "%Y-%m-%d",
}


def days_text(first: date, last: date) -> str:
    """The days from the first to the last, without a year."""
    return f"{first.day} {first:%b} to {last.day} {last:%b}"
