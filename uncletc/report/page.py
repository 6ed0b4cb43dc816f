"""The HTML of a report: what was fitted, what was found, how to cite it."""

from __future__ import annotations

from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined

from uncletc.datasets.base import Dataset
from uncletc.io.citation import citation
from uncletc.io.recipe import Recipe
from uncletc.report.figures import extremes, over_last
from uncletc.report.words import headline, scatter_words
from uncletc.result.fit_result import Fit


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
    pages = Environment(
        loader=PackageLoader("uncletc", "report"), autoescape=True, undefined=StrictUndefined
    )
    return pages.get_template("report.html").render(
        title=dataset.title,
        headline=headline(dataset, fit, scale),
        scale=scale.statement,
        p="p" if scale.absolute else "relative p (median = 1)",
        rate="λ" if scale.absolute else "relative λ",
        intervals=fit.draws is not None,
        last=counts.modes[-1],
        course_of=over_last(dataset, fit, scale),
        groups=list(extremes(dataset, fit, scale)),
        checks=[
            scatter_words(fit),
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
        f"{counts.n_observed:,} counts of {size}: {counts.share_observed:.1%} of all combinations; "
        f"{int((counts.counts == 0).sum()):,} of them 0. Period: {dataset.provenance.period}.",
        acts,
    ]


def _named(attributes: tuple[str, ...]) -> str:
    """Names of attributes in a row, of a category the name alone."""
    return ", ".join(dict.fromkeys(each.split(": ")[0] for each in attributes)) or "none"
