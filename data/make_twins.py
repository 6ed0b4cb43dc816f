"""Make the simulated twins of the two real data sets, with their truth.

Run ``python data/make_twins.py`` where uncletc is installed; the same package versions write the
same content. No real observation enters: the counties' names, positions and land areas come from
``data/county_centroids.csv`` (Census Bureau, public domain), everything else is drawn. The
constants were set by hand so that the size of the tensors, the share observed, and the mean,
spread, maximum and share of zeros of the counts come near those of the real data.

It writes ``covid_twin.npz`` and ``ppi_twin.npz``. Attributes are rounded to 256 levels and factors
and effects to float32 before anything is computed from them, so that what is stored states the
truth exactly.
"""

import sys
from pathlib import Path

from twin_covid import draw_covid
from twin_parts import describe, write
from twin_plants import draw_plants

HERE = Path(__file__).resolve().parent
SEED = 2021


def main(folder: Path = HERE, seed: int = SEED) -> None:
    """Write both twins into ``folder``."""
    for name, draw in (("covid", draw_covid), ("ppi", draw_plants)):
        twin = draw(seed)
        write(folder / f"{name}_twin.npz", twin.header, twin.arrays)
        describe(name, twin.counts, twin.detection)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
