"""Golf tees in clusters, looked for by two observers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.truth.known import Case, Truth, file, read_rda
from uncletc import CountTensor, FitSettings


def _cases(paths: Sequence[Path]) -> list[Case]:
    (objects,) = read_rda(paths[0]).values()
    table, areas = objects["book.tee.dataframe"], objects["book.tee.obs"]
    strip = areas.set_index("object")["Sample.Label"].astype(int) - 1
    band = np.minimum(table["distance"].to_numpy().astype(int), 3)
    y = np.zeros((44, 2), dtype=int)
    seen = table["detected"].to_numpy().astype(int)
    strips = strip.reindex(table["object"].astype(int)).to_numpy()
    np.add.at(y, (strips * 4 + band, table["observer"].astype(int).to_numpy() - 1), seen)
    where = np.argwhere(np.ones(y.shape, dtype=bool))
    counts = CountTensor(
        y.shape,
        where,
        y.ravel(),
        attributes=(where[:, :1] % 4) + 0.5,
        attribute_names=["distance"],
        modes=["strip and band", "observer"],
    ).with_detection_by("observer")
    of_tee = table.pivot(index="object", columns="observer", values="detected").astype(int)
    kinds = ["distance", "size", "sex", "exposure"]
    z = table.drop_duplicates("object").set_index("object").loc[of_tee.index, kinds]
    kind, levels = pd.factorize(pd.MultiIndex.from_frame(z))
    own = np.array(levels.to_list(), dtype=float)[:, None, :].repeat(2, axis=1)
    histories = CountTensor.from_histories(
        kind,
        ["".join(map(str, row)) for row in of_tee.to_numpy()],
        modes=("kind", "observer"),
        attributes=own,
        attribute_names=kinds,
    )
    bands = [f"{k}-{k + 1}" for k in range(4)]
    first = CountTensor.from_dense(
        y[:, 0].reshape(11, 4), labels=[list(range(1, 12)), bands], modes=["strip", "distance"]
    )
    return [
        Case(
            name="golf tees, distances of one observer",
            counts=first.with_protocol("line transect"),
            settings=FitSettings(rank=1, closed=["distance"]),
            number=250.0,
            groups=np.full(44, -1),
            detection=np.zeros(0),
            covariates={},
        ),
        Case(
            name="golf tees, histories and covariates",
            counts=histories.with_detection_by("observer"),
            settings=FitSettings(rank=1, closed=["observer"]),
            number=250.0,
            groups=np.full(histories.n_observed, -1),
            detection=np.zeros(0),
            covariates={},
        ),
        Case(
            name="golf tees",
            counts=counts,
            settings=FitSettings(rank=1, closed=["observer"]),
            number=250.0,
            groups=np.full(len(where), -1),
            detection=np.zeros(0),
            covariates={},
        ),
    ]


TRUTH = Truth(
    title="Golf tees",
    source="R package mrds, book.tee.data",
    licence="GPL (>= 2)",
    truth="250 clusters (Borchers, Buckland and Zucchini, 2002); 162 were seen",
    files=(
        file(
            "DistanceDevelopment/mrds/4e1c793d3472f89d4d7054826c0f26eb64e7a0ee/data/book.tee.data.rda",
            25392,
            "6e091549129bc4ce7ae0bd0b77e8156fe10c0f87b09bf9e810865762eedc7b27",
        ),
    ),
    cases=_cases,
)
