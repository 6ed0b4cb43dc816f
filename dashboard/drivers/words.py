"""Attributes and their effects in words, and in the attributes' own units. Pure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from uncletc.datasets import AttributeInfo

# Share of the misfit that shuffling an attribute adds, below which it is called weak: counts are
# then predicted nearly as well without it.
WEAK_SHARE = 0.1
# Ratios of p, or of λ, that an attribute makes at most: below, called none, weak and moderate.
# Weak ones are within what intervals of p usually hold.
NO_RATIO, WEAK_RATIO, STRONG_RATIO = 1.1, 1.5, 3.0
_SCALED = "from smallest (0) to largest (1)"


def axis_title(attribute: str, about: AttributeInfo) -> str:
    """What stands below the values of an attribute."""
    if about.unit:
        return f"{attribute} ({about.unit})"
    if about.levels or (about.minimum, about.maximum) != (0.0, 1.0):
        return attribute
    return f"{attribute}, {_SCALED}"


def about_words(attribute: str, about: AttributeInfo) -> str:
    """What an attribute is, for Markdown: its explanation, its range, and what to beware of."""
    said = [f"**{attribute}**: {about.explanation}" if about.explanation else f"**{attribute}**."]
    if not about.levels and (about.minimum, about.maximum) != (0.0, 1.0):
        unit = f" {about.unit}" if about.unit else ""
        ends = (number(each) for each in (about.minimum, about.maximum))
        said.append(f"It goes from {' to '.join(ends)}{unit}.")
    if about.cumulative:
        said.append(
            "It is **cumulative**: it hardly does anything but rise, so its effect cannot be told "
            "from that of time."
        )
    return " ".join(said)


def in_unit(about: AttributeInfo, low: float, high: float) -> str:
    """A range of scaled values, in the attribute's unit."""
    first, last = (number(float(value)) for value in about.value([low, high]))
    unit = f" {about.unit}" if about.unit and ";" not in about.unit else ""
    return f"{first} to {last}{unit}"


def two_names(about: AttributeInfo) -> tuple[str, ...]:
    """Names of the two values of an attribute that has no others."""
    return about.levels or (number(about.minimum), number(about.maximum))


def strength_words(where: str, ratio: float) -> str:
    """How strong an effect is that changes p by a ratio of at most this."""
    if ratio < NO_RATIO:
        return f"{where}, p hardly differs: × {ratio:.2f} at most, **no effect to speak of**."
    called = "weak" if ratio < WEAK_RATIO else "moderate" if ratio < STRONG_RATIO else "strong"
    return f"{where}, p differs by × {ratio:.2g} at most: **a {called} effect**."


def number(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, without an exponent: "14,900,000", "0.81"."""
    if value == 0 or not np.isfinite(value):
        return "0" if value == 0 else str(value)
    places = digits - 1 - int(np.floor(np.log10(abs(value))))
    rounded = round(value, places)
    text = f"{rounded:,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def importance_words(bars: pd.DataFrame) -> str:
    """Which attributes the predicted counts depend on, and whether weakly.

    Parameters
    ----------
    bars : DataFrame
        As in :class:`dashboard.drivers.view.ImportanceView`.
    """
    clear = bars[(bars["rise"] > bars["sd"])]
    if clear.empty:
        return "In this fit **no attribute** clearly matters for the predicted counts."
    first = clear.head(2)
    names = " and ".join(f"**{name}**" for name in first["attribute"])
    shares = " and ".join(f"{share:.0%}" for share in first["share"])
    said = f"In this fit, the predicted counts depend most on {names}"
    them = "them" if len(first) > 1 else "it"
    if float(first["share"].iloc[0]) < WEAK_SHARE:
        weak = "both are weak" if len(first) > 1 else "it is weak"
        return f"{said}, but {weak}: shuffling {them} raises the misfit by {shares} only."
    return f"{said}: shuffling {them} raises the misfit by {shares}."
