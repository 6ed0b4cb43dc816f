"""What other packages read of a fit: summaries, xarray, ArviZ, plots."""

import numpy as np
import pytest

from uncletc import CountTensor, FitSettings, estimates, fit, simulate
from uncletc.result import plots

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


@pytest.fixture(scope="module")
def found():
    y, _ = simulate((10, 8, 5), rank=2, observed=0.7, attributed=0.8, seed=3)
    return fit(y, rank=2, network="never")


def test_summary_prints_as_text_and_html(found):
    summary = found.summary()
    for part in (str(summary), summary._repr_html_()):
        assert all(word in part for word in ("AIC", "rank", "simulated", "relative", "z10"))
    assert summary.facts["AIC"] == f"{found.aic:.1f}"


def test_aic_finds_the_rank(found):
    others = [fit(found.counts, rank=rank, network="never").aic for rank in (1, 3)]
    assert found.aic < min(others)
    assert found.n_parameters > 2 * (10 + 8 + 5 - 2)


def test_log_likelihood_is_that_of_poisson_counts_where_mu_is_large(found):
    from scipy.stats import poisson

    counts = found.counts
    z = counts.attributes_at(counts.indices, unknown_as_nan=True)
    poissonian = poisson.logpmf(counts.counts, found.expected(counts.indices, z)).sum()
    assert found.log_likelihood == pytest.approx(poissonian, rel=0.02)


def test_intervals_of_effects_hold_their_estimates(found):
    table = found.confint()
    assert table["ratio"].between(table["low"], table["high"], inclusive="neither").all()
    wider = found.confint(level=0.99)
    assert (wider["high"] > table["high"]).all()


def test_xarray_has_the_numbers_of_the_table(found):
    data, table = found.to_xarray(), estimates.every_entry(found.counts, found).table
    row = table.iloc[37]
    cell = data.sel({mode: float(row[mode]) for mode in found.counts.modes})
    for name in ("relative_rate", "relative_rate_low", "relative_detection", "expected_high"):
        np.testing.assert_equal(float(cell[name]), row[name])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_arviz_reads_the_draws(found):
    import arviz as az  # ten seconds

    tree = found.to_datatree(draws=100)
    data = az.from_datatree(tree) if hasattr(az, "from_datatree") else tree
    assert list(az.summary(data).index)[:2] == ["expected_total", "detection_ratio[z1]"]
    assert az.loo(data).elpd_loo == pytest.approx(found.log_likelihood, rel=0.2)
    az.plot_ppc(data, num_pp_samples=10)
    observed, drawn = tree["observed_data/count"], tree["posterior_predictive/count"]
    low, high = drawn.quantile([0.05, 0.95], ["chain", "draw"])
    assert ((low <= observed) & (observed <= high)).mean() > 0.85


@pytest.mark.parametrize("installed", ["matplotlib", "plotly"])
def test_plots_by_what_is_installed(found, installed, monkeypatch):
    real, absent = plots.importlib.util.find_spec, {"matplotlib", "plotly"} - {installed}
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *of: None if name in absent else real(name, *of)
    )
    effects, places = found.plot_effects(), found.plot_detection(mode="mode 2")
    if installed == "plotly":
        assert len(effects.data) == 10
        assert list(places.data[0].x) == sorted(places.data[0].x)
    else:
        assert len(effects.axes) == 10  # in rows of four
        assert len(places.axes[0].get_yticklabels()) == 8


def test_a_fit_from_a_file_asks_for_its_counts(found, reloaded):
    again = reloaded(found)
    with pytest.raises(ValueError, match="counts must be given"):
        again.summary()
    assert str(again.summary(found.counts).table) == str(found.summary().table)
    for method in (again.confint, again.to_datatree, again.to_frame):
        with pytest.raises(ValueError, match=r"counts must have shape \(10, 8, 5\) and 10 attr"):
            method(CountTensor.from_dense([[1, 2]]))
    with pytest.raises(ValueError, match="must have as many rows, got 1 and 2"):
        again.detection(np.zeros((2, 10)), [[0, 0, 0]])
    named = CountTensor((2, 2), [[0, 1]], [3], attributes=np.empty((0, 1)), attribute_indices=[])
    assert len(fit(named, rank=1, max_iter=1).to_frame()) == 1


def test_settings_or_keywords():
    y, _ = simulate((5, 5), rank=1, observed=0.9, attributed=0.0, similar=0.0)
    with pytest.raises(TypeError, match="mu must be part of settings"):
        fit(y, FitSettings(rank=1), mu=2.0)
    assert fit(y, max_iter=2, closed=(), effects="mode 1").settings.effects == ("mode 1",)
    assert np.isnan(fit(y, max_iter=2, effects="mode 1").aic)


def test_aic_of_repeat_visits_chooses_covariates():
    rng = np.random.default_rng(7)
    wind, rain = rng.random((2, 80, 3))
    n = rng.negative_binomial(3, 0.4, 80)
    y = rng.binomial(n[:, None], 1 / (1 + np.exp(3 * (wind - 0.5))))
    names, both = ["wind", "rain"], np.stack([wind, rain], axis=-1)
    scores = []
    for k, name in enumerate(names):
        counts = CountTensor.from_dense(y, attributes=both[..., [k]], attribute_names=[name])
        scores.append(fit(counts, rank=1, closed="mode 2", hidden=()))
    assert scores[0].aic < scores[1].aic - 5
    assert "each counted once" in scores[0].summary().facts["N"]
    assert scores[0].n_parameters == 4  # level and slope of p, mean of λ, μ


def wind_and_rain(together):
    """Counts whose p depends on two attributes; attributes of the second have their product too."""
    rng = np.random.default_rng(601)
    rate = 15 * np.exp(rng.normal(0, 0.8, (20, 1)) + rng.normal(0, 0.5, (1, 15)))
    z = rng.uniform(-0.5, 0.5, (300, 2))
    logit = -1 + 6 * z[:, 0] * z[:, 1] if together else -1 + 2 * z.sum(axis=1)
    y = rng.poisson(rate.ravel() / (1 + np.exp(-logit)))
    where, names = np.argwhere(np.ones((20, 15))), ("wind", "rain", "both")
    z = np.column_stack([z, z.prod(axis=1)])
    return [
        CountTensor((20, 15), where, y, attributes=z[:, :n], attribute_names=names[:n])
        for n in (2, 3)
    ]


def test_attributes_that_act_together_are_named_where_no_network_follows_them():
    settings = FitSettings(rank=1, effects=["mode 1", "mode 2"], hidden=())
    alone, with_product = (fit(counts, settings) for counts in wind_and_rain(together=True))
    assert "wind and rain each act by themselves" in str(alone.summary())
    assert not with_product.assumption()
    assert not fit(wind_and_rain(together=False)[0], settings).assumption()


def test_levels_without_attributes_are_said_to_have_the_mean_p():
    """Their λ is wrong by as much as their p differs, whatever the intervals of λ say."""
    rng, where = np.random.default_rng(5), np.argwhere(np.ones((12, 10)))
    z, y = rng.uniform(-1, 1, (120, 1)), rng.poisson(9, 120)
    said = []
    for rows in (np.arange(30, 120), rng.permutation(120)[30:]):
        given = {"attributes": z[rows], "attribute_indices": where[rows]}
        counts = CountTensor((12, 10), where, y, **given)
        said += [fit(counts, FitSettings(rank=1, hidden=())).assumption()]
    assert "λ of 3 of 12 levels of mode 1, none of whose counts has attributes" in said[0]
    assert "mode 2" not in said[0]
    assert not said[1]
