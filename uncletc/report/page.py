"""A report of a fit as one HTML page: sentences, tables, shares of an axis that it draws."""

import math
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from uncletc import checking
from uncletc.data.counts import CountTensor
from uncletc.datasets.base import Dataset, citation
from uncletc.effects import attribute_groups
from uncletc.estimates import reported_once, totals
from uncletc.estimates.entries import named_columns
from uncletc.estimates.sums import number_name
from uncletc.fitting.fit import fit as fit_counts
from uncletc.fitting.history import StopReason
from uncletc.fitting.recipe import Recipe
from uncletc.fitting.settings import FitSettings
from uncletc.model.rates import same_within
from uncletc.result.anchor import detection_over
from uncletc.result.assumptions import ACT_ON_BOTH, TOO_LITTLE
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale
from uncletc.tables.types import listed

_SHOWN = 10  # lowest, and highest, of many
_MOST_LEVELS = 20_000  # groups whose totals are made for a list of a few
_OFF = 0.10  # of the mean, as on the page Model check
_FEWEST = 100  # held-out counts below which nothing is said
_NAMED = {"N": "N", "rate": "λ", "relative_rate": "relative λ"}  # columns of totals


_HOW = (
    'In settings.toml that is acts_on = "both" under [roles."NAME"], "NAME" = 1 or -1 under '
    '[fit.signs], and effects = ["MODE"] under [fit].'
)


def headline(dataset: Dataset, fit: Fit, scale: Scale) -> list[str]:
    """Say what was reported, how many there truly were, and what that rests on.

    Parameters
    ----------
    dataset : Dataset
        With the counts of the fit.
    fit : Fit
    scale : Scale

    Returns
    -------
    list of str
        While the scale is free, true counts are left open.
    """
    row, rate = totals(dataset, fit, scale).iloc[0], number_name(fit, scale)
    sentences = []
    if fit.level_warning:
        sentences.append(fit.level_warning)
    if assumption := fit.assumption(dataset.counts):
        sentences.append(f"{assumption}.")
        sentences += [_HOW] * any(words in assumption for words in (ACT_ON_BOTH, TOO_LITTLE))
    reported = f"Reported {row['reported']:,.0f}"
    if scale.absolute:
        sentences.append(
            f"{reported}; estimated true {number(row[rate])}{between(row, rate)}, "
            f"{percent(row['share'])} % counted{between(row, 'share', share=True)}; "
            f"{scale.statement}."
        )
        most = float(scale.detection(detection_over(dataset.counts, fit)).max())
        if most > 1 + 1e-9:
            sentences.append(
                f"The highest p is {most:.3g} on this scale, and a probability cannot exceed 1: "
                "only ranks and ratios hold."
            )
    else:
        sentences.append(
            f"{reported}. How many there truly were stays open: only ratios of λ and of p are "
            f"known until a statement anchors them ({scale.statement})."
        )
    sentences += assumed_everywhere(dataset.counts, fit)
    total, expected = dataset.counts.counts.sum(), fit.expected_counts(dataset.counts).sum()
    if abs(expected - total) > total / 3 + 1:
        sentences.append(f"The fit expects {number(expected)} counts, not {number(total)}.")
    if fit.settings.closed:
        once = reported_once(dataset.counts)
        sentences.append(f"Each event counts once: reported is {once}.")
    if dataset.provenance.simulated:
        sentences.append("Simulated counts: no number here was observed.")
    if fit.stop is StopReason.MAX_ITER:
        sentences.append(
            "The fit stopped at max_iter, its limit of iterations, before it had settled."
        )
    return sentences


def assumed_everywhere(counts: CountTensor, fit: Fit) -> list[str]:
    """Say that p is constant without covariates, or that λ has nothing to do with those it has.

    Not of those that differ mostly by a mode, of which :meth:`uncletc.Fit.assumption` speaks,
    nor where further counts or surveys say what p is.
    """
    if fit.settings.closed or counts.observations or fit.anchored_by:
        return []
    if not fit.n_attributes:
        constant = not any("detection(" in text for text in fit.settings.effects)
        return ["p is assumed to be the same everywhere: no covariate acts on it."] * constant
    z, levels = pd.DataFrame(counts.attributes), counts.attribute_indices.T
    own = ~np.any([same_within(z, level) for level in levels], axis=0)
    own &= ~np.isin(counts.attribute_names, counts.rate_attribute_names)
    names = [name for name, columns in attribute_groups(counts).items() if own[[*columns]].any()]
    it, modes = "it" if len(names) == 1 else "them", listed(counts.modes)
    words = "p by {} assumes that λ does not depend on {} beyond {}."
    return [words.format(listed(names, 4), it, modes)] if names else []


def held_out_words(counts: CountTensor, settings: FitSettings) -> str:
    """Fit again without a fifth of the counts, and say how well these are predicted."""
    held = checking.held_out(counts)
    n = int(held.sum())
    if n < _FEWEST:
        return f"Only {n} counts can be held out: too few to say whether the model fits."
    seen = fit_counts(counts.subset(~held), settings)
    found = checking.check(counts.counts[held], checking.expected_at(seen, counts, held))
    ratio, wide = found.ratio, found.negative_binomial
    off = not ratio.low <= 1 <= ratio.high and abs(ratio.estimate - 1) > _OFF / 2
    verdict = "Misfit" if off or wide.distance > found.close else "No clear misfit"
    return (
        f"{verdict}, on {n:,} counts that were kept from a fit with the same settings: they are "
        f"{ratio.estimate:.2f} times the predicted ones in all ({ratio.low:.2f}–{ratio.high:.2f}), "
        f"vary {found.poisson.pearson:,.2g} times as much as Poisson counts would, and their "
        f"residuals lie {wide.distance:.2f} from those of a negative binomial "
        f"(up to {found.close:.2f} is close)."
    )


def number(value: float) -> str:
    """A number of events as a reader needs it: "15,700,000", "61,000", "4.2"."""
    if not math.isfinite(value):
        return "–"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:.3g}"


def percent(share: float) -> str:
    """A share without its sign: "58", "0.4"."""
    if not math.isfinite(share):
        return "–"
    return f"{100 * share:.0f}" if share >= 0.01 or share == 0 else f"{100 * share:.2g}"


def between(row: pd.Series, name: str, *, share: bool = False) -> str:
    """The interval of a number in brackets, empty where there is none."""
    if f"{name}_low" not in row or not math.isfinite(row[f"{name}_low"]):
        return ""
    ends = map(percent if share else number, (row[f"{name}_low"], row[f"{name}_high"]))
    return f" ({'–'.join(ends)}{' %' if share else ''})"


def extremes(dataset: Dataset, fit: Fit, scale: Scale) -> Iterator[dict[str, Any]]:
    """Yield the lowest and highest groups by p: of places and states, or of each mode but the last.

    A single level is no group, and where p is the same everywhere there is no order.

    Yields
    ------
    dict
        by, n (groups in all), heads and rows of a table (the lowest first), and bars: label, text,
        value, low and high as shares of the axis, the latter None without intervals.
    """
    free = "" if scale.absolute else "relative_"
    p, rate = f"{free}detection", number_name(fit, scale)
    for by, size in _groupings(dataset):
        if not 2 <= size <= _MOST_LEVELS:
            continue
        table = totals(dataset, fit, scale, by=by).sort_values(p, kind="stable")
        if np.ptp(table[p]) <= 1e-9 * table[p].max():
            continue
        n = len(table)
        if n > 2 * _SHOWN:
            table = pd.concat([table.head(_SHOWN), table.tail(_SHOWN)])
        top = 1.0 if scale.absolute and table[p].max() > 0.6 else 1.15 * float(table[p].max())
        words = free.replace("_", " ")
        heads = [by, "counted entries", "reported", _NAMED[rate], f"{words}p"]
        heads += ["counted"] if "share" in table else []
        rows, bars = [], []
        for _, row in table.iterrows():
            label = _short(str(row[by]), by)
            cells = [label, f"{row['entries']:,}", f"{row['reported']:,}"]
            cells += [number(row[name]) + between(row, name) for name in (rate, p)]
            if "share" in row:
                cells.append(f"{percent(row['share'])} %{between(row, 'share', share=True)}")
            rows.append(cells)
            ends = {
                end: min(row[f"{p}_{end}"] / top, 1.0)
                if np.isfinite(row.get(f"{p}_{end}", np.nan))
                else None
                for end in ("low", "high")
            }
            value = min(row[p] / top, 1.0)
            bars.append({"label": label, "text": number(row[p]), "value": value, **ends})
        yield {"by": by, "n": n, "heads": heads, "rows": rows, "bars": bars}


def over_last(dataset: Dataset, fit: Fit, scale: Scale) -> dict[str, Any] | None:
    """Return the course over the last mode as shares of the axis; None below three levels."""
    if dataset.counts.shape[-1] < 3:
        return None
    found = totals(dataset, fit, scale, by=dataset.counts.modes[-1])
    rate = number_name(fit, scale)
    names = {"reported": "reported", "expected": "expected", "rate": rate}
    most = float(found[list(names.values())].to_numpy().max()) or 1.0
    middle = float(f"{0.54 * most:.0e}")  # of one digit, so that the axis has round numbers
    top = max(1.08 * most, 2 * middle)
    if f"{rate}_low" in found and np.isfinite(found[f"{rate}_low"]).all():
        names |= {"low": f"{rate}_low", "high": f"{rate}_high"}
    drawn = {name: (found[column] / top).clip(upper=1.0).tolist() for name, column in names.items()}
    ticks = [(tick / top, f"{tick:,.12g}") for tick in (0.0, middle, 2 * middle)]
    labels = found.iloc[:, 0].astype(str).tolist()
    return {"low": None, "high": None, "labels": labels, "ticks": ticks} | drawn


def _short(label: str, by: str) -> str:
    """A label as a report has it: of the counties of a cell the first, and how many more."""
    if by != "counties":
        return label
    first, *more = label.split("; ")
    return f"{first} +{len(more)}" if more else first


def _groupings(dataset: Dataset) -> Iterator[tuple[str, int]]:
    beside = named_columns(dataset)[len(dataset.counts.modes) :]
    others = {each.column: len(each.labels) for each in beside}
    if "counties" in others:
        yield from ((name, others[name]) for name in ("state", "counties") if name in others)
        return
    counts = dataset.counts
    last = len(counts.modes) - (counts.shape[-1] >= 3)
    yield from zip(counts.modes[:last], counts.shape[:last], strict=True)


def report(dataset: Dataset, fit: Fit, recipe: Recipe, *, checked: str = "") -> str:
    """Return a report of a fit as one HTML page, which needs nothing beside it.

    Parameters
    ----------
    dataset : Dataset
        With the counts of the fit.
    fit : Fit
    recipe : Recipe
        Whose anchor states the scale.
    checked : str
        What held-out counts say of the fit; empty: not checked.

    Returns
    -------
    str
        In light and dark, and for paper. Labels are escaped.

    Raises
    ------
    ValueError
        If the counts are not those of the fit, or the anchor does not go with them.
    """
    scale = recipe.anchor.scale(dataset.counts, fit)
    counts, provenance, last = dataset.counts, dataset.provenance, fit.history[-1]
    poor = f"A poor fit: {fit.misfit}. Trust neither λ nor p until that is solved."
    pages = Environment(
        loader=PackageLoader("uncletc", "report"), autoescape=True, undefined=StrictUndefined
    )
    return pages.get_template("report.html").render(
        title=dataset.title,
        headline=headline(dataset, fit, scale),
        scale=scale.statement,
        p="p" if scale.absolute else "relative p (median entry = 1)",
        rate=_NAMED[number_name(fit, scale)],
        intervals=fit.draws is not None,
        last=counts.modes[-1],
        course_of=over_last(dataset, fit, scale),
        groups=list(extremes(dataset, fit, scale)),
        checks=[
            *([poor] if fit.misfit else []),
            checked
            or "Held-out counts were not checked: Model check does that on the pages, and "
            "uncletc report --check here.",
        ],
        data=_data(dataset),
        rules=provenance.rules,
        sources=[(each.name, each.licence, each.used_for, each.url) for each in provenance.sources],
        settings=[
            f"{last.iteration} iterations; stopped because {fit.stop.value}. μ {fit.mu:.4g}.",
            f"Scale of λ and p: {scale.statement}.",
        ],
        recipe=recipe.to_toml(),
        citation=citation(dataset.title, provenance),
        version=version("uncletc"),
    )


def _data(dataset: Dataset) -> list[str]:
    """Size and period of the counts, and what acts on what."""
    counts = dataset.counts
    size = " × ".join(f"{n:,} {mode}" for n, mode in zip(counts.shape, counts.modes, strict=True))
    detection, rate = map(_named, (counts.attribute_names, counts.rate_attribute_names))
    acts = f"Attributes that act on detection: {detection}. On the true rate: {rate}."
    if counts.observations:
        acts += f" Additional data sources: {', '.join(each.name for each in counts.observations)}."
    if counts.surveys:
        acts += f" Surveys: {len(counts.surveys)}."
    return [
        f"{counts.n_observed:,} counts of {size}: {100 * counts.share_observed:.3g} % of all "
        f"combinations; {int((counts.counts == 0).sum()):,} of them 0. "
        f"Period: {dataset.provenance.period}.",
        acts,
    ]


def _named(attributes: tuple[str, ...]) -> str:
    """Names of attributes in a row, of a category the name alone."""
    return ", ".join(dict.fromkeys(each.split(": ")[0] for each in attributes)) or "none"
