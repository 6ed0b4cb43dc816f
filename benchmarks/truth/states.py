"""COVID-19 in the United States: cases by cell and day, held against blood surveys by state."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.known import Case, Truth, halves
from uncletc import FitSettings, datasets

_RANK = 15  # the page's default


def _cases(_: Sequence[Path]) -> list[Case]:
    dataset = datasets.load("covid").with_roles()
    outside, counts = datasets.load_outside(dataset), dataset.counts
    states = list(outside.states.index)
    cells = pd.MultiIndex.from_arrays(counts.indices[:, :2].T)
    state = outside.cells["state"].reindex(cells).map(states.index).to_numpy()
    z = pd.DataFrame(counts.attributes[counts.attribute_rows], columns=counts.attribute_names)
    columns = {
        str(name): np.asarray(values)
        for name, values in z.groupby(state).mean().reindex(range(len(states))).items()
        if name != "weekend"
    }
    columns["tests per person"] = outside.states["tests"].to_numpy()
    deaths = datasets.deaths_observations(dataset)
    folds = []
    for judged in halves(len(states)):
        unseen = set(outside.states.index[judged]) & set(outside.cells["state"])
        of_others = datasets.deaths_observations(dataset, without=unseen)
        folds.append((counts.with_observations(of_others), judged))
    return [
        Case(
            name=name,
            counts=fitted,
            settings=FitSettings(
                rank=_RANK, signs=dataset.roles.signs, effects=list(dataset.effects)
            ),
            groups=state,
            detection=outside.states["seroprevalence"].to_numpy(),
            covariates=columns | more,
            folds=own,
        )
        for name, fitted, more, own in (
            (
                "states, deaths seen",
                counts.with_observations(deaths),
                {"deaths alone": outside.states["deaths"].to_numpy()},
                (),
            ),
            ("states, deaths of the others", counts, {}, tuple(folds)),
        )
    ]


TRUTH = Truth(
    title="United States",
    source="UF-IDD/US_seroprevalence, and the sources of the data set covid-outside",
    licence="none stated",
    truth="p of a state is its cases over new infections by blood surveys, January and February "
    "2021; where deaths are seen, what they say of p without any fit is one of the columns",
    files=(),
    cases=_cases,
)
