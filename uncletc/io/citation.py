"""How to cite the program, the method and the data."""

from __future__ import annotations

from importlib.metadata import version

from uncletc.datasets.base import Provenance

PAPER = (
    "Ibrahim, S., Fu, X., Hutchinson, R. and Seo, E. (2023). Under-Counted Tensor Completion with "
    "Neural Incorporation of Attributes. International Conference on Machine Learning (ICML)."
)


def citation(title: str, provenance: Provenance) -> str:
    """Lines to copy: the program, the method, and the sources of the data.

    Title and period of simulated counts say that they are simulated.
    """
    sources = [
        f"  {source.name}{', ' + source.url if source.url else ''} (licence: {source.licence})"
        for source in provenance.sources
    ]
    return "\n".join(
        [
            f"Computed with uncletc {version('uncletc')}. Method: {PAPER}",
            f"Data: {title}, {provenance.period}.",
            *sources,
        ]
    )
