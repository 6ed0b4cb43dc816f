"""The HTML of a report: what was fitted, what was found, how to cite it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from string import Template

from uncletc.datasets.base import Dataset
from uncletc.io.citation import citation
from uncletc.io.recipe import Recipe
from uncletc.report.figures import Extremes, extremes, over_last, over_pairs, short
from uncletc.report.style import PAGE
from uncletc.report.words import between, headline, number, percent, scatter_words
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale


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
        What held-out counts say of the fit; empty: nobody asked them.

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
    parts = [
        _paragraphs(headline(dataset, fit, scale), first="lead"),
        *_figures(dataset, fit, scale),
        _section("Does the model fit?", _paragraphs(_checks(fit, checked))),
        _section("What was counted", _data(dataset)),
        _section("Settings", _settings(fit, scale, recipe)),
        _section(
            "How to cite", f"<pre>{escape(citation(dataset.title, dataset.provenance))}</pre>"
        ),
        _section("What these numbers mean", _paragraphs(_meaning(scale))),
    ]
    return Template(PAGE).substitute(
        title=escape(f"{dataset.title}: estimates"),
        heading=escape(dataset.title),
        body="\n".join(parts),
        version=escape(version("uncletc")),
    )


def _figures(dataset: Dataset, fit: Fit, scale: Scale) -> list[str]:
    p = "p" if scale.absolute else "relative p (median = 1)"
    rate = "λ" if scale.absolute else "relative λ"
    parts = []
    course = over_last(dataset, fit, scale)
    if course:
        mode = dataset.counts.modes[-1]
        parts.append(
            _section(
                f"By {mode}",
                f"<figure>{course}<figcaption>Bars: reported. Dashed: ŷ, what the model predicts "
                f"to be reported. Line: {escape(rate)}, summed over counted entries"
                f"{', with its 90 % interval' if fit.draws is not None else ''}. "
                f"Scale: {escape(scale.statement)}.</figcaption></figure>",
            )
        )
    parts.extend(
        _section(f"By {each.by}", _tabulated(each, scale, p))
        for each in extremes(dataset, fit, scale)
    )
    grid = over_pairs(dataset, fit, scale)
    if grid:
        first, second = dataset.counts.modes[:2]
        parts.append(
            _section(
                f"By {first} and {second}",
                f"<figure>{grid}<figcaption>Mean {escape(p)} of counted entries; blank: none. "
                f"Scale: {escape(scale.statement)}.</figcaption></figure>",
            )
        )
    return parts


def _tabulated(each: Extremes, scale: Scale, p: str) -> str:
    caption = (
        f"Mean {escape(p)} of counted entries: the lowest first"
        + (f", then the highest, of {each.n:,}" if each.n > len(each.table) else "")
        + f". Scale: {escape(scale.statement)}."
    )
    figure = f"<figure>{each.figure}<figcaption>{caption}</figcaption></figure>"
    free = "" if scale.absolute else "relative_"
    heads = [each.by, "counted entries", "reported", "λ" if scale.absolute else "relative λ", p]
    heads += ["counted"] if "share" in each.table else []
    rows = []
    for _, row in each.table.iterrows():
        cells = [
            short(str(row[each.by]), each.by),
            f"{row['entries']:,}",
            f"{row['reported']:,}",
            number(row[f"{free}rate"]) + between(row, f"{free}rate"),
            number(row[f"{free}detection"]) + between(row, f"{free}detection"),
        ]
        if "share" in row:
            cells.append(f"{percent(row['share'])} %{between(row, 'share', share=True)}")
        rows.append(cells)
    return figure + _table(heads, rows, "numbers")


def _data(dataset: Dataset) -> str:
    counts = dataset.counts
    size = " × ".join(f"{n:,} {mode}" for n, mode in zip(counts.shape, counts.modes, strict=True))
    lines = [
        f"{counts.n_observed:,} counts of {size}: {counts.share_observed:.1%} of all combinations; "
        f"{int((counts.counts == 0).sum()):,} of them 0. Period: {dataset.provenance.period}.",
        "Attributes that act on detection: "
        f"{_named(counts.attribute_names)}. On the true rate: "
        f"{_named(counts.rate_attribute_names)}."
        + (
            f" Further looks: {', '.join(each.name for each in counts.looks)}."
            if counts.looks
            else ""
        ),
    ]
    rules = "".join(f"<li>{escape(rule)}</li>" for rule in dataset.provenance.rules)
    sources = [
        [each.name, each.licence, each.used_for, each.url] for each in dataset.provenance.sources
    ]
    table = (
        _table(["source", "licence", "used for", "address"], sources, "sources") if sources else ""
    )
    return _paragraphs(lines) + (f"<ul>{rules}</ul>" if rules else "") + table


def _named(attributes: tuple[str, ...]) -> str:
    """Names of attributes in a row, of a category the name alone."""
    return ", ".join(dict.fromkeys(each.split(": ")[0] for each in attributes)) or "none"


def _settings(fit: Fit, scale: Scale, recipe: Recipe) -> str:
    last = fit.history[-1]
    said = [
        f"{last.iteration} iterations; stopped because {fit.stop.value}. μ {fit.mu:.4g}.",
        f"Scale of λ and p: {scale.statement}.",
    ]
    return _paragraphs(said) + f"<pre>{escape(recipe.to_toml())}</pre>"


def _checks(fit: Fit, checked: str) -> list[str]:
    return [
        scatter_words(fit),
        checked
        or "Held-out counts were not asked: Model check does that on the pages, and "
        "uncletc report --check here.",
    ]


def _meaning(scale: Scale) -> list[str]:
    return [
        "λ is the number of true events to be expected, p the chance that one is counted, and ŷ = "
        "λp the expected report. Twice the true events with half the detection would give the same "
        f"counts: what is absolute here rests on the scale, “{scale.statement}”.",
        "p is estimated from attributes that were recorded, not measured, and no cause is claimed. "
        "Intervals are 90 % ones; they hold the chance in counts, not errors of the model itself.",
    ]


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _paragraphs(sentences: Iterable[str], first: str = "") -> str:
    kinds = [f' class="{first}"' if first and i == 0 else "" for i, _ in enumerate(sentences)]
    return "".join(f"<p{k}>{escape(each)}</p>" for k, each in zip(kinds, sentences, strict=True))


def _table(heads: list[str], rows: list[list[str]], kind: str) -> str:
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="wide">{table}</div>'
