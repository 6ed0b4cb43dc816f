"""The plant–pollinator loader: its published statistics on the real files, its rules on a few."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from uncletc import datasets
from uncletc.datasets import fetch
from uncletc.datasets.fetch import PublicFile
from uncletc.datasets.ppi_files import SURVEYS, WATCHES, read_flowers, read_watches

realdata = [
    pytest.mark.realdata,
    pytest.mark.skipif(
        "UNCLETC_DATA_DIR" not in os.environ,
        reason="UNCLETC_DATA_DIR names no folder of public files",
    ),
]


@pytest.fixture(scope="module")
def ppi() -> datasets.Dataset:
    return datasets.load("ppi")


class TestRealData:
    pytestmark = realdata

    def test_usable_rows(self) -> None:
        watches = read_watches()
        assert len(watches) == 22_910
        assert watches["plant"].nunique() == 107
        assert watches["pollinator"].nunique() == 452
        assert watches["count"].sum() == 75_900
        assert watches.groupby(["year", "visit"]).ngroups == 18

    def test_most_active_have_the_published_shares(self, ppi: datasets.Dataset) -> None:
        counts = ppi.counts
        entries = 50 * 50 * 18
        assert counts.shape == (50, 50, 18)
        assert f"{counts.share_observed:.2%}" == "29.07%"
        assert f"{(counts.counts > 0).sum() / entries:.2%}" == "5.56%"
        assert f"{(counts.counts == 0).sum() / entries:.2%}" == "23.50%"

    def test_pollinators_of_a_genus_share_a_level(self, ppi: datasets.Dataset) -> None:
        genus = {group.name: group for group in ppi.counts.groups}["genus"]
        of = dict(zip(ppi.counts.labels[1], genus.codes, strict=True))
        assert of["Bombus mixtus"] == of["Bombus vosnesenskii"] != of["Apis mellifera"]
        assert genus.labels[of["Apis mellifera"]] == "Apis"

    def test_attributes_cover_every_entry(self, ppi: datasets.Dataset) -> None:
        z = ppi.counts.attributes
        assert len(z) == 50 * 50 * 18
        np.testing.assert_allclose(z.min(axis=0), 0)
        np.testing.assert_allclose(z.max(axis=0), 1)
        assert ppi.counts.attribute_names[:6] == (
            "flower abundance",
            "month",
            "day of year",
            "wind",
            "cloud",
            "air temperature",
        )

    def test_all_species_can_be_kept(self) -> None:
        everything = datasets.load("ppi", plants=107, pollinators=452)
        assert everything.counts.counts.sum() == 75_900
        assert everything.table["interactions"].sum() == 75_900

    def test_tables_follow_the_modes(self, ppi: datasets.Dataset) -> None:
        for mode, labels in zip(ppi.counts.modes, ppi.counts.labels, strict=True):
            column = "label" if mode == "visit" else mode
            assert tuple(ppi.mode_tables[mode][column]) == labels
        assert ppi.counts.labels[2][0] == "2011-1"
        visits = ppi.mode_tables["visit"]
        assert (visits["first_date"] <= visits["last_date"]).all()
        assert visits["first_date"].dt.year.tolist() == visits["year"].tolist()

    def test_a_sheet_without_pollinators_is_refused(self) -> None:
        sheet = "2014_Interactions_v3.csv"
        path = Path(os.environ["UNCLETC_DATA_DIR"]) / Path(WATCHES).with_name(sheet)
        with pytest.raises(
            ValueError,
            match=rf"VISSP_NAME of {sheet} must name the pollinator of most interactions; "
            "3,800 of 4,777 rows have none",
        ):
            datasets.load("ppi", path=path)


HEADER = "year,MEADOW,DATE,WATCH,STATUS,NO_INT,PLTSP_NAME,VISSP_NAME,VECTOR GUILD,CLOUDS,WIND,TEMP"
ROWS = (
    "11,A,7/1/11,1,1,2,Rosa,Apis,social bee,S,ST,20,note,note",
    "11,A,7/2/11,0.5,1,3,Rosa,Apis ,social bee,SH,B,71",
    "11,A,7/1/11,1,1,1,Iris,Bombus,social bee",
    "11,B,7/1/11,1,1,1,Rosa,Villa,bee-fly",
    "12,B,7/9/12,2,1,1,Viola,Villa,bee-fly,,,30",
    "12,B,7/9/12,2,1,NA,Viola,Apis,social bee",
    "12,B,7/9/12,2,0,9,Viola,Apis,social bee",
    "12,B,7/9/12,2,1,9,Viola,,social bee",
    ",,,,,,,",
)
FLOWERS = (
    "A,2011,1,FLW,Viola,4,2",
    "A,2011,1,NOF,,,",
    "B,2012,1.5,FLW,Rosa,3,1",
    "C,2012,2,FLW,Iris,3,1",
)


@pytest.fixture
def watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A few watches in a file of the user's, and a few surveys in place of the public ones."""
    surveys = tmp_path / "files" / SURVEYS
    surveys.parent.mkdir(parents=True)
    header = "MEADOW,YEAR,WATCH,FLW_STATUS,PLTSP_NAME,NO_STALK,NO_FLWS"
    surveys.write_text("\n".join((header, *FLOWERS)), encoding="utf-8")
    content = surveys.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    file = PublicFile(path=SURVEYS, size=len(content), sha256=sha256, urls=())
    monkeypatch.setenv("UNCLETC_DATA_DIR", str(tmp_path / "files"))
    monkeypatch.setattr(fetch, "registry", lambda: {"ppi": {SURVEYS: file}})
    return write(tmp_path / "own.csv", *ROWS)


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text("\n".join((header, *rows)), encoding="utf-8")
    return path


def load(path: Path, *, plants: int = 3, pollinators: int = 3) -> datasets.Dataset:
    return datasets.load("ppi", plants=plants, pollinators=pollinators, path=path)


class TestRules:
    def test_counts_and_zeros(self, watches: Path) -> None:
        ppi = load(watches)
        assert ppi.counts.labels == (
            ("Rosa", "Iris", "Viola"),  # 6, 1 and 1 interactions: by name where equal
            ("Apis", "Villa", "Bombus"),  # 5, 2 and 1
            ("2011-1", "2012-2"),
        )
        found = {
            tuple(entry): count
            for entry, count in zip(
                ppi.counts.indices.tolist(), ppi.counts.counts.tolist(), strict=True
            )
        }
        assert found == {
            (0, 0, 0): 5,  # both rounds of the first visit
            (0, 2, 0): 0,  # Rosa and Bombus in meadow A, not together
            (1, 0, 0): 0,
            (1, 2, 0): 1,
            (2, 0, 0): 0,  # Viola in flower in meadow A
            (2, 2, 0): 0,
            (0, 1, 0): 1,  # Rosa and Villa in meadow B
            (2, 1, 1): 1,
            (0, 1, 1): 0,  # Rosa in flower there at round 1.5, of visit 2
        }

    def test_pairs(self, watches: Path) -> None:
        pairs = load(watches).table.set_index(["plant", "pollinator"])
        rosa = pairs.loc[("Rosa", "Villa")]
        assert (rosa["interactions"], rosa["visits_observed"]) == (1, 2)
        assert rosa["visits_with_interactions"] == 1
        assert rosa["guild"] == "bee-fly"
        assert rosa["meadows"] == "B"
        assert pairs.loc[("Rosa", "Bombus"), "meadows"] == ""  # not together
        assert ("Iris", "Villa") not in pairs.index

    def test_attributes(self, watches: Path) -> None:
        counts = load(watches).counts
        shape = (*counts.shape, counts.n_attributes)
        z = dict(
            zip(
                counts.attribute_names,
                np.moveaxis(counts.attributes.reshape(shape), -1, 0),
                strict=True,
            )
        )
        most = np.log1p(8)  # Viola, 4 stalks of 2 flowers
        np.testing.assert_allclose(z["flower abundance"][:, 0, 0], [0, 0, 1])
        np.testing.assert_allclose(z["flower abundance"][:, 0, 1], np.log1p([3, 3, 0]) / most)
        assert z["month"].max() == 0  # July both times: a constant
        assert z["day of year"][0, 0].tolist() == [0, 1]
        assert z["air temperature"][0, 0].tolist() == [0, 1]  # 20 and 30 °C; 71 is no reading
        assert z["wind"].max() == 0  # unknown at the second visit: the median, so a constant
        assert z["guild: bee-fly"][0, :, 0].tolist() == [0, 1, 0]

    def test_only_the_most_active_are_kept(self, watches: Path) -> None:
        ppi = load(watches, plants=1, pollinators=2)
        assert ppi.counts.shape == (1, 2, 2)
        assert ppi.counts.counts.sum() == 6

    def test_columns_of_the_complete_table_are_known(self, watches: Path) -> None:
        official = "YEAR,MEADOW,SAMPLEDATE,WATCH,NO_INT,PLTSP_NAME,VISSP_NAME,VISSP_TYPE"
        ppi = load(
            write(watches, "2015,A,2015-07-01,1,2,Rosa,Apis,bee", header=official),
            plants=1,
            pollinators=1,
        )
        assert ppi.counts.labels == (("Rosa",), ("Apis",), ("2015-1",))
        assert ppi.mode_tables["pollinator"]["guild"].tolist() == ["bee"]
        assert ppi.provenance.sources[0].name.endswith("(your own file)")

    def test_flowers_are_those_in_flower(self, watches: Path) -> None:
        assert watches.exists()
        assert read_flowers()["flowers"].tolist() == [8, 3, 3]


class TestBadInput:
    @pytest.mark.parametrize("n", [0, 4, 1.5, True])
    def test_numbers_of_species(self, watches: Path, n: int) -> None:
        with pytest.raises(ValueError, match=rf"plants must be a whole .* 1 to 3, got {n}"):
            load(watches, plants=n)
        with pytest.raises(ValueError, match=rf"pollinators must be a whole .* 1 to 3, got {n}"):
            load(watches, pollinators=n)

    @pytest.mark.parametrize("column", ["NO_INT", "WATCH", "VISSP_NAME", "DATE"])
    def test_missing_column(self, watches: Path, column: str) -> None:
        header = HEADER.replace(column, "OTHER")
        with pytest.raises(
            ValueError, match=rf"own\.csv must have the columns .*; {column} is missing"
        ):
            load(write(watches, *ROWS, header=header))

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("11,A,7/1/11,1,1,-2,Rosa,Apis", r"NO_INT of own\.csv must .* >= 0, got -2"),
            ("11,A,7/1/11,1,1,2.5,Rosa,Apis", r"NO_INT of own\.csv must .* >= 0, got 2\.5"),
            ("11,A,7/1/11,1,1,few,Rosa,Apis", r"NO_INT of own\.csv must hold numbers; .* 'few'"),
            ("11,A,1 July,1,1,2,Rosa,Apis", r"DATE of own\.csv must be like .* got '1 July'"),
            ("11,A,7/1/11,1,1,2,Rosa,", r"VISSP_NAME of own\.csv must .*; 1 of 1 rows have none"),
            ("11,A,7/1/11,1,0,2,Rosa,Apis", r"own\.csv must have rows with STATUS 1"),
        ],
    )
    def test_bad_rows(self, watches: Path, row: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            load(write(watches, row))

    def test_an_empty_file(self, watches: Path) -> None:
        watches.write_text("")
        with pytest.raises(ValueError, match=r"own\.csv must have the columns"):
            load(watches)
