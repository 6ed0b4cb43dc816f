"""The plant–pollinator loader: its published statistics on the real files, its rules on a few."""

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler

from tests.uncletc.test_datasets_covid import public_file, realdata
from uncletc import datasets
from uncletc.datasets import fetch
from uncletc.datasets.base import scaled
from uncletc.datasets.ppi import FACTS, read_watches


@pytest.fixture(scope="module")
def ppi():
    return datasets.load("ppi")


class TestRealData:
    pytestmark = realdata

    def test_usable_rows(self):
        watches = read_watches()
        assert len(watches) == 22_910
        assert watches["plant"].nunique() == 107
        assert watches["pollinator"].nunique() == 452
        assert watches["count"].sum() == 75_900
        assert watches.groupby(["year", "visit"]).ngroups == 18

    def test_most_active_have_the_published_shares(self, ppi):
        counts = ppi.counts
        entries = 50 * 50 * 18
        assert counts.shape == (50, 50, 18)
        assert f"{counts.share_observed:.2%}" == "29.07%"
        assert f"{(counts.counts > 0).sum() / entries:.2%}" == "5.56%"
        assert f"{(counts.counts == 0).sum() / entries:.2%}" == "23.50%"

    def test_pollinators_of_a_genus_share_a_level(self, ppi):
        genus = {group.name: group for group in ppi.counts.groups}["genus"]
        of = dict(zip(ppi.counts.labels[1], genus.codes, strict=True))
        assert of["Bombus mixtus"] == of["Bombus vosnesenskii"] != of["Apis mellifera"]
        assert genus.labels[of["Apis mellifera"]] == "Apis"


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
def own(tmp_path, monkeypatch):
    """The data set of a few watches and surveys in place of the public ones."""
    header = "MEADOW,YEAR,WATCH,FLW_STATUS,PLTSP_NAME,NO_STALK,NO_FLWS"
    registered = {}
    for name, rows in (("watches", (HEADER, *ROWS)), ("surveys", (header, *FLOWERS))):
        path = FACTS.paths[name]
        registered[path] = public_file(tmp_path, path, rows)
    monkeypatch.setenv("UNCLETC_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(fetch, "registry", lambda: {"ppi": registered})
    return datasets.load("ppi")


class TestRules:
    def test_counts_and_zeros(self, own):
        counts = own.counts
        assert counts.labels == (
            ("Rosa", "Iris", "Viola"),  # 6, 1 and 1 interactions: by name where equal
            ("Apis", "Villa", "Bombus"),  # 5, 2 and 1
            ("2011-1", "2012-2"),
        )
        entries = map(tuple, counts.indices.tolist())
        found = dict(zip(entries, counts.counts.tolist(), strict=True))
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

    def test_attributes(self, own):
        counts = own.counts
        shape = (*counts.shape, counts.n_attributes)
        arrays = np.moveaxis(counts.attributes.reshape(shape), -1, 0)
        z = dict(zip(counts.attribute_names, arrays, strict=True))
        most = np.log1p(8)  # Viola, 4 stalks of 2 flowers
        np.testing.assert_allclose(z["flower abundance"][:, 0, 0], [0, 0, 1])
        np.testing.assert_allclose(z["flower abundance"][:, 0, 1], np.log1p([3, 3, 0]) / most)
        assert z["month"].max() == 0  # July both times: a constant
        assert z["day of year"][0, 0].tolist() == [0, 1]
        assert z["air temperature"][0, 0].tolist() == [0, 1]  # 20 and 30 °C; 71 is no reading
        assert z["wind"].max() == 0  # unknown at the second visit: the median, so a constant
        assert z["guild: bee-fly"][0, :, 0].tolist() == [0, 1, 0]


def test_covariates_are_scaled_as_scikit_learn_does():
    z = np.random.default_rng(0).normal(5.0, 300.0, (50, 3))
    z[:, 2] = 0.1  # constant
    found = scaled(dict(enumerate(z.T)))
    np.testing.assert_array_equal(found, MinMaxScaler(clip=True).fit_transform(z))
