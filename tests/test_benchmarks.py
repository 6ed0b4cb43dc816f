"""The benchmarks: problems, how fits are judged, further methods, and the report of real counts."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import accuracy, tables
from benchmarks._crps import crps
from benchmarks._problem import log_score
from benchmarks._real_report import difference, report
from benchmarks._real_trials import _SCORES
from benchmarks.methods import ALL, stack_of
from benchmarks.problems import PROBLEMS, Goal
from uncletc import CountTensor
from uncletc.compare.scores import count_distribution

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


def observed(problem):
    return np.ravel_multi_index(tuple(problem.counts.indices.T), problem.counts.shape)


@pytest.mark.parametrize(
    "name", ["covid-fibre", "o10", "K2", "K4", "nb", "inter", "net-0.1", "xor-0.3-noise"]
)
def test_a_problem_is_complete_and_holds_out_what_no_fit_sees(name):
    problem, again, other = (PROBLEMS[name].make(seed) for seed in (5, 5, 6))
    assert problem.counts.digest == again.counts.digest != other.counts.digest
    np.testing.assert_array_equal(problem.held_counts, again.held_counts)
    counts, truth = problem.counts, problem.truth
    assert counts.simulated
    assert counts.shape == truth.rate.shape == truth.detection.shape
    assert 0 <= truth.detection.min() <= truth.detection.max() <= 1
    assert np.intersect1d(observed(problem), problem.held).size == 0
    assert len(problem.held) == len(problem.held_counts) >= 100
    known = np.ravel_multi_index(tuple(counts.attribute_indices.T), counts.shape)
    np.testing.assert_array_equal(counts.attributes, problem.attributes(known))
    expected = (truth.rate * truth.detection).ravel()[problem.held]
    assert problem.held_counts.mean() == pytest.approx(expected.mean(), rel=0.15)


def test_the_truth_has_no_error_and_its_scores_are_the_best():
    problem = PROBLEMS["sparse"].make(1)
    rate, p = problem.truth.rate, problem.truth.detection.ravel()
    double = SimpleNamespace(  # the same but for the free scale
        rate_tensor=lambda: 2 * rate,
        detection=lambda _: p[problem.judged] / 2,
        expected=lambda *_: (rate.ravel() * p)[problem.held],
    )
    found = problem.errors(double)
    assert found == {"MAE_λ": 0, "MAE_p": 0, **problem.scores_of_truth()}
    assert found["log score"] < log_score(problem.held_counts, rate.ravel()[problem.held])


def test_finished_fits_are_read_and_held_against_what_must_be_reached(tmp_path):
    trials = tmp_path / "trials"
    first, again = (accuracy.judge_all(["o10"], [2], "joint", 1, trials) for _ in range(2))
    pd.testing.assert_frame_equal(first, again, check_exact=False)
    assert len(trials.read_text().splitlines()) == 2
    assert first["p known"][0] < PROBLEMS["o10"].make(2).constant
    assert first["λ held"][0] > 0.7
    assert "| o10 | 2 | **0.0" in accuracy.describe(first)
    errors = pd.DataFrame({name: [0.01, 0.03] for name in ("MAE_λ", "MAE_p", "rRMSE")})
    assert accuracy.missed(Goal(rate=0.02), errors) == ""
    assert accuracy.missed(Goal(rate=0.02, every_seed=True), errors) == "✗ λ"


def test_tables_of_a_folder_are_scored(tmp_path, capsys, monkeypatch):
    rows = [f"s{i},{2001 + k},{1 + (i * k) % 5}" for i in range(15) for k in range(10)]
    (tmp_path / "bees.csv").write_text("\n".join(["site,year,seen", *rows]))
    (tmp_path / "again.csv").write_text((tmp_path / "bees.csv").read_text())
    (tmp_path / "notes.txt").write_text("no table")
    monkeypatch.setattr("sys.argv", ["tables", str(tmp_path)])
    tables.main()
    report = capsys.readouterr().out
    assert f"| {tmp_path.name} | 1 | usual | +0.000 | +0.000 |" in report
    assert "| LightGBM |" in report


SHAPE = (12, 10, 8)
STACK = stack_of([ALL["Constant"], ALL["Main effects"]])
FURTHER = ["Constant", "Main effects", "NB regression", "Neighbours", "Stack"]


def fitted(name, counts):
    method = STACK if name == "Stack" else ALL[name]
    return method.fit(counts, method.settings(**({"rank": 1} if method.has_rank else {})))


def drawn(mean, **more):
    """Poisson counts of 60 % of the entries."""
    rng = np.random.default_rng(0)
    entries = np.argwhere(np.ones(mean.shape))
    rows = np.sort(rng.permutation(len(entries))[: round(0.6 * len(entries))])
    y = rng.poisson(mean[tuple(entries[rows].T)])
    if "attributes" in more:
        more["attributes"] = more["attributes"].reshape(len(entries), -1)
        more["attribute_indices"] = entries
    return CountTensor(mean.shape, entries[rows], y, **more)


def error(found, counts, mean):
    """Mean error of ŷ over all entries, relative to the mean."""
    entries = np.argwhere(np.ones(mean.shape))
    z = counts.attributes_at(entries, unknown_as_nan=True) if found.n_attributes else None
    return float(np.abs(found.expected(entries, z) - mean.ravel()).mean() / mean.mean())


class TestMethods:
    @pytest.mark.parametrize("name", FURTHER)
    def test_effects_and_exposure_are_found(self, name):
        rng = np.random.default_rng(2)
        exposure = 10.0 ** np.random.default_rng(1).integers(0, 4, (12, 1, 8))
        mean = np.broadcast_to(3 * exposure, SHAPE)
        counts = drawn(mean, exposure=exposure)
        assert error(fitted(name, counts), counts, mean) < 0.05
        one, two, place = (rng.normal(0, s, n) for s, n in ((0.7, 12), (0.7, 8), (0.5, (12, 10))))
        mean = 50 * np.exp(one[:, None, None] + place[:, :, None] + two)
        counts = drawn(mean)
        assert (error(fitted(name, counts), counts, mean) < 0.1) is (name != "Constant")

    def test_slopes_are_found_and_outliers_are_not_extreme(self):
        z = np.random.default_rng(4).normal(size=(*SHAPE, 1))
        mean = 30 * np.exp(0.5 * z[..., 0])
        counts = drawn(mean, attributes=np.exp(2 * z))  # heavily skewed, but of the same ranks
        found = fitted("NB regression", counts)
        assert error(found, counts, mean) < 0.1
        assert found.expected([[0, 0, 0]], [[1e9]]) < 30 * np.exp(0.5 * 4)


def test_crps_by_its_definition_each_count_with_its_own_dispersion():
    k, means = np.arange(200_000), {0: 0.003, 3: 0.4, 1: 2.0, 90: 30.0, 350: 400.0}
    cases = [(y, m, phi) for y, m in means.items() for phi in (0.0, 1e-5, 0.02, 0.8, 12.0)]
    expected = [((count_distribution(m, phi).cdf(k) - (k >= y)) ** 2).sum() for y, m, phi in cases]
    np.testing.assert_allclose(crps(*zip(*cases, strict=True)), expected, rtol=1e-5)


def trials(**scores):
    rows = [
        {"data": "covid", "held_out": "entry", "method": name, "seed": k // 5, "fold": k % 5}
        | dict.fromkeys(_SCORES, value)
        | {"mu": 1.5, "power": 0.3, "phi": 0.8, "seconds": 1.0}
        for name, values in scores.items()
        for k, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


class TestRealReport:
    FIRST = (4.0, 4.1, 4.2, 4.0, 4.1)

    def test_differences_are_over_folds_that_both_have(self):
        rng = np.random.default_rng(0)
        hard, gaps = rng.normal(4, 1, 10), rng.normal(-0.2, 0.01, 10)
        both = trials(UncleTC=list(hard[:5] + gaps[:5]), BPTF=list(hard))
        found = difference(both, "UncleTC", "BPTF")
        assert found.mean == pytest.approx(gaps[:5].mean())
        assert found.error == pytest.approx(gaps[:5].std(ddof=1) / np.sqrt(5))
        assert difference(trials(UncleTC=list(hard)), "UncleTC", "BPTF") is None

    def test_a_section_marks_methods_and_says_who_leads(self):
        worse = [value + 0.1 + 0.001 * k for k, value in enumerate(self.FIRST)]
        boosted = [value - 0.2 for value in self.FIRST]
        found = trials(UncleTC=list(self.FIRST), POND=worse, LightGBM=boosted)
        (section,) = report(found)
        assert section.startswith("## COVID-19, single entries held out")
        assert "| POND \\* |" in section
        assert "| LightGBM † |" in section
        assert "ahead of POND; behind LightGBM." in section
