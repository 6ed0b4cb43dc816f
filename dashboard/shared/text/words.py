"""Numbers, days and words in sentences, and the glossary. Pure."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

WHISKERS = (
    "Whiskers: 90 % intervals. They reflect chance in the counts, not errors of the model itself; "
    "long ones are cut off at the edge."
)

SCALE_IN_WHISKERS = (
    " They hold how uncertain the scale is, too, which moves all p together and no rank."
)

P_IS_THE_SAME = "p is the same everywhere: no attribute acts on detection."

NO_INTERVALS = "Intervals come with the joint solver, once the fit has finished."


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


_FULL = "%Y-%m-%d"  # codes of strftime, which Plotly understands too
_SHORT = "%-d %b"  # on an axis, whose year is clear
DAY_AXIS: dict[str, Any] = {"type": "date", "tickformat": _SHORT, "hoverformat": _FULL}
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


def is_day(label: str) -> bool:
    """Whether the label of a mode's step is a day."""
    return _ISO.fullmatch(label) is not None


def day_text(label: str) -> str:
    """A day as readers see it; any other label, such as that of a visit, as it is."""
    return date.fromisoformat(label).strftime(_FULL) if is_day(label) else label


def days_text(first: date, last: date) -> str:
    """The days from the first to the last, without a year."""
    return f"{_short(first)} to {_short(last)}"


def _short(day: date) -> str:
    return day.strftime(_SHORT.replace("%-d", str(day.day)))  # which Windows does not know


# What a word means, by the word: in the order in which a reader meets them.
GLOSSARY: dict[str, str] = {
    "Count, y": "What was reported for one place and time: cases in a county on a day, or an "
    "interaction seen at a visit. It can be too low; too high only where reports "
    "of other days come in.",
    "True count": "What really happened there and then. It is never observed; only part of it was "
    "counted.",
    "λ (lambda)": "The expected true count: its average if the same place and time could be "
    "repeated many times.",
    "p": "The chance that one true event is counted, between 0 and 1. Of 100 true events about "
    "100 × p are counted.",
    "Relative p": "p divided by its median: 2 means twice as likely to be counted as the median "
    "entry. It needs no assumption, and it may be larger than 1.",
    "% counted": "What was reported, of λ. It holds chance, and how reports come in where the fit "
    "has effects on that (late, in bulk, never); p holds neither.",
    "ŷ (y hat)": "The expected reported count, λ × p, times reporting where the fit has effects on "
    "it. Unlike λ or p alone, it has no free scale.",
    "Anchor, scale of p": "Twice the true events with half the detection would give the same "
    "counts, so counts alone fix only ratios of p. An anchor is your own statement that fixes "
    "the rest, such as “a quarter of all cases are counted”; it may be a range.",
    "Attribute, z": "Something known about a place and time that detection may depend on: "
    "weather, hospital beds, the kind of pollinator.",
    "Role": "What an attribute may change: p, λ, or both; and, if stated, whether p may only rise "
    "or only fall with it. Counts alone hardly tell the two apart, so roles are stated, with "
    "reasons.",
    "Effect of a mode": "A factor of λ for each place, day or species, or for pairs of these, as "
    "far as the counts ask for one. On reporting: a factor of the counts alone, such as that of "
    "Sundays on which a state publishes little.",
    "Tensor": "A table with more than two dimensions. Cases by latitude, longitude and day form "
    "one with three.",
    "Mode": "One dimension of the tensor, such as the day or the plant.",
    "Entry": "One cell of the tensor, such as one place on one day. An entry without a count is "
    "missing, not zero.",
    "Rank, component": "λ is a sum of patterns, the components; each is a profile over places "
    "times a profile over days. The rank is the number of components.",
    "μ (mu)": "How closely the p of an entry follows its attributes: the larger, the less it may "
    "deviate from others with the same attributes. The counts say which μ is likeliest.",
    "g(z)": "The function that turns attributes into p, learned from the counts: a curve for each "
    "attribute, and a network where attributes act together.",
    "Act together": "Attributes act together where what one does to p depends on another: rain may "
    "keep observers away in spring and not in autumn.",
    "Network": "Layers of hidden units that see all attributes at once. It is trained on the "
    "counts, and kept only if it helps to predict counts that it has not seen.",
    "Member": "One of several fits of the same counts, each from another start. Those that end "
    "about as likely as the best are combined.",
    "Interval": "A range meant to contain the true value 9 times out of 10, from how sharply "
    "the counts speak against other values. It reflects chance in counts, not errors of the model.",
    "Held-out error": "How badly the fit predicts counts that were hidden from it. Counts that a "
    "fit has seen prove little.",
    "rRMSE": "Relative root mean squared error: the typical size of the errors of ŷ over the mean "
    "count. 0 is perfect; large counts weigh most.",
    "Deviance": "How unlikely the counts are under the fit, on a scale where 0 is a perfect fit. "
    "It weighs errors against what chance alone would give.",
    "Log score": "How much a count surprises a prediction: −log of the probability that it was "
    "given. Lower is better; .01 less an entry makes each count about 1 % more probable.",
    "Simulated": "Drawn from the model by this program. Nothing was observed, and the truth is "
    "known, so estimates can be checked against it.",
}
