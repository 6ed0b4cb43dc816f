"""An example of the form that a table may have. Pure."""

from __future__ import annotations

import pandas as pd

from uncletc import simulate


def sample_table() -> pd.DataFrame:
    """A small simulated table in the form that a reader's own file should have."""
    counts, _ = simulate(
        (12, 10, 12), 2, observed=0.5, attributed=0.5, similar=0.1, n_attributes=3, seed=5
    )
    site, species, week = counts.indices.T
    z = counts.attributes_at(counts.indices).round(2)
    table = pd.DataFrame(
        {
            "site": [f"simulated site {i + 1:02d}" for i in site],
            "species": [f"simulated species {i + 1:02d}" for i in species],
            "week": week + 1,
            "count": counts.counts,
        }
    )
    return table.assign(wind=z[:, 0], cloud=z[:, 1], effort=z[:, 2])
