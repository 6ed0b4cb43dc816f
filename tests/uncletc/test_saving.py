"""Files of fits come back whole or not at all."""

import json
import zipfile

import numpy as np
import pytest

from tests.uncletc.made import made_fit
from uncletc import CountTensor, Fit, UnreadableFitError


@pytest.mark.parametrize("hidden", [(5,), (), (4, 3), None], ids=str)
def test_everything_comes_back(tmp_path, hidden):
    known = {"dropped": ("of one", "of two"), "mu_of_observations": {"deaths": 3.5}}
    known["powers_of_observations"] = {"deaths": 0.4}
    known |= {"anchored_by": "deaths", "network_gain": (0.1, 0.02), "mu": 2.5}
    network = {"network": None} if hidden is None else {"hidden": hidden}
    saved = made_fit(**network, **known)
    saved.save(tmp_path / "fit with a space.dat")
    back = Fit.load(tmp_path / "fit with a space.dat")
    names = ("history", "stop", "settings", "counts_digest", "shape", "n_attributes", *known)
    for name in names:
        assert getattr(back, name) == getattr(saved, name), name
    for ours, theirs in zip(back.factors, saved.factors, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(back.observed_detection, saved.observed_detection)
    z = np.random.default_rng(1).standard_normal((6, saved.n_attributes))
    np.testing.assert_array_equal(back.detection(z), saved.detection(z))


class TestUnreadable:
    MESSAGE = "path must be a file written by Fit.save; .*broken.npz is not readable as one"

    @pytest.fixture
    def path(self, tmp_path):
        made_fit().save(tmp_path / "broken.npz")
        return tmp_path / "broken.npz"

    def rewrite(self, path, *, without="", **changes):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != without}
        header = json.loads(arrays["header"].tobytes())
        for part in (header, header["contents"]["Fit"]):
            own = [name for name in changes if name in part and name not in arrays]
            part.update({name: changes.pop(name) for name in own})
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(path, **{**arrays, **changes})

    def refused(self, path):
        with pytest.raises(UnreadableFitError, match=self.MESSAGE):
            Fit.load(path)

    @pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
    def test_truncated(self, path, share):
        whole = path.read_bytes()
        path.write_bytes(whole[: int(share * len(whole))])
        self.refused(path)

    @pytest.mark.parametrize(
        "name", ["header", "factors/1", "observed_detection", "network/weights/0"]
    )
    def test_a_flipped_byte_in_the_contents(self, path, name):
        whole = bytearray(path.read_bytes())
        with zipfile.ZipFile(path) as file:
            part = file.getinfo(f"{name}.npy")
        whole[part.header_offset + 30 + len(f"{name}.npy") + 20 + part.compress_size // 2] ^= 0xFF
        path.write_bytes(whole)
        self.refused(path)

    @pytest.mark.parametrize(
        "changes",
        [
            {"without": "factors/2"},
            {"without": "network/weights/3"},
            {"without": "observed_detection"},
            {"observed_detection": np.array([{"a": 1}, None], dtype=object)},  # a pickle
            {"format": 1},
            {"stop": {"StopReason": "TIRED"}},
            {"settings": {"FitSettings": {"rank": 0}}},
            {"settings": {"FitSettings": {"rank": 2, "rnk": 2}}},
            {"history": [{"Iteration": {"iteration": 0}}]},
            {"network/weights/0": np.zeros((4, 3))},
        ],
        ids=str,
    )
    def test_a_part_that_is_missing_or_does_not_fit(self, path, changes):
        self.rewrite(path, **changes)
        self.refused(path)

    def test_a_fit_is_no_file_of_counts(self, path):
        with pytest.raises(ValueError, match=r"written by CountTensor\.save"):
            CountTensor.load(path)
