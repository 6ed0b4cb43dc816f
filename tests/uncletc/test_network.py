"""The network stage: it learns what attributes do together, and only that."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from uncletc import CountTensor, FitSettings, Joint, fit, metrics
from uncletc.fitting.fit import one_thread
from uncletc.model.features import AttributeFeatures
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network import stage
from uncletc.solvers.network.descent import cost
from uncletc.solvers.network.stage import learn_network, train_by_minibatches
from uncletc.solvers.network.training import Training
from uncletc.solvers.network.weights import with_network

SHAPE, RANK, D = (12, 11, 10), 2, 4


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


def _problem(kind, seed):
    """True λ, no curves yet, and 60 % of the counts; also all p and attributes."""
    rng = np.random.default_rng(seed)
    factors = [rng.gamma(2.0, 1.0, (size, RANK)) for size in SHAPE]
    z = rng.random((int(np.prod(SHAPE)), D))
    c = z - 0.5
    logit = 4 * c[:, 0] + 3 * c[:, 1]
    if kind == "xor":
        logit = 30 * (c[:, 0] * c[:, 1] + c[:, 2] * c[:, 3])
    p = 1 / (1 + np.exp(-logit))
    rate = 20 * np.einsum("ir,jr,kr->ijk", *factors).ravel()
    where = np.unravel_index(np.arange(len(z)), SHAPE)
    seen = np.sort(rng.permutation(len(z))[: int(0.6 * len(z))])
    features = AttributeFeatures.of(z[seen], rng, curved=True)
    line = torch.zeros(features.n_features, dtype=torch.float64)
    if kind == "additive":
        design = features(torch.from_numpy(z[seen])).numpy()
        line = torch.from_numpy(np.linalg.lstsq(design, logit[seen], rcond=None)[0])
    optimum = Optimum(
        where=[torch.from_numpy(indices[seen]) for indices in where],
        counts=torch.from_numpy(rng.poisson(rate * p)[seen].astype(np.float64)),
        exposure=torch.ones(len(seen), dtype=torch.float64),
        attributes=z,
        rows=seen,
        features=features,
        factors=[torch.from_numpy(factor) * 20 ** (1 / 3) for factor in factors],
        coefficients=line,
        precisions=torch.ones_like(line),
        centre=torch.zeros_like(line),
        layers=(),
        unattributed=0.5,
        mu=torch.full((len(seen),), 2000.0, dtype=torch.float64),
        dispersion=1.0,
        prior_shape=2.0,
    )
    return optimum, p, z


def _error(optimum, p, z):
    features = optimum.features
    x = ((z - features.middle) / features.spread).clip(-4, 4)
    *hidden, output = (layer.numpy() for layer in optimum.layers)
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        x = x @ weight + bias
        x = x / (1 + np.exp(-x))
    logit = (features(torch.from_numpy(z)) @ optimum.coefficients).numpy() + x @ output
    g = 1 / (1 + np.exp(-logit))
    return float(np.abs(g / g.mean() - p / p.mean()).mean())


@pytest.mark.usefixtures("one_fold")
def test_learns_what_attributes_do_together():
    optimum, p, z = _problem("xor", 0)
    found = learn_network(optimum, (12, 12), seed=0).optima[0]
    sizes = [(D, 12), (12,), (12, 12), (12,), (12,)]
    assert [tuple(layer.shape) for layer in found.layers] == sizes
    assert _error(found, p, z) < 0.1


@pytest.mark.slow
def test_folds_judge_and_the_best_of_their_networks_are_kept():
    optimum, _, _ = _problem("xor", 0)
    found = learn_network(optimum, (20, 20), seed=0).optima
    assert len(found) == 3
    judged = float(torch.isfinite(found[0].unseen).double().mean())
    assert 0.4 < judged < 0.9
    every = torch.ones(len(optimum.counts), dtype=torch.bool)
    costs = [cost(one, every) for one in found]
    assert costs == sorted(costs)
    assert not torch.equal(found[0].layers[0], found[1].layers[0])


def test_none_where_attributes_act_one_by_one_or_without_hidden_layers():
    assert not learn_network(_problem("additive", 0)[0], (20, 20), seed=0).optima
    assert not learn_network(_problem("xor", 0)[0], (), seed=0).optima


@pytest.fixture
def one_fold(monkeypatch):
    """Judge networks on one fold, which takes a fifth of the time."""
    monkeypatch.setattr(stage, "_MOST_FOLDS", 1)


@pytest.fixture
def fewer_steps(monkeypatch):
    """Train networks by a third of the steps."""
    monkeypatch.setattr(stage, "_MUCH_MORE", 1000)


@pytest.mark.usefixtures("one_fold")
def test_always_keeps_what_held_out_counts_do_not_support():
    optimum, _, _ = _problem("additive", 0)
    found = learn_network(optimum, (3,), seed=0, always=True)
    assert [tuple(layer.shape) for layer in found.optima[0].layers] == [(D, 3), (3,), (3,)]
    assert found.gain is not None


def _trained(optimum, hidden, **always):
    return train_by_minibatches(
        optimum, hidden, 0, lambda: None, **always, joint=True, scatter=True
    )


def _by_minibatches(kind, *, always):
    """What became of a network of two layers, and its error of p."""
    optimum, p, z = _problem(kind, 0)
    found = _trained(optimum, (12, 12), always=always)
    return found, _error(found.optima[0], p, z) if found.optima else np.nan


@pytest.mark.usefixtures("fewer_steps")
def test_minibatches_learn_what_attributes_do_together():
    found, error = _by_minibatches("xor", always=False)
    assert error < 0.15
    gain, uncertain = found.gain
    assert gain > 5 * uncertain > 0


@pytest.mark.usefixtures("fewer_steps")
def test_minibatches_leave_out_what_held_out_counts_do_not_support():
    assert not _by_minibatches("additive", always=False)[0].optima
    found, error = _by_minibatches("additive", always=True)
    assert found.gain[0] < 3 * found.gain[1]
    assert error < 0.1


@pytest.mark.parametrize("signs", [(0, 0, 0, 0), (1, -1, 0, 0)], ids=["free", "signed"])
def test_gradients_of_minibatches_are_those_of_the_likelihood(signs):
    optimum = _with_signs(_problem("xor", 0)[0], signs)
    generator = torch.Generator().manual_seed(0)
    start = with_network(optimum, (5, 4), generator)
    layers = (*start.layers[:-1], 0.3 * torch.rand(4, generator=generator).double())
    training = Training(replace(start, layers=layers), joint=True, scatter=False)
    chosen, step = torch.arange(0, len(optimum.counts), 3), 1e-2
    gradient = torch.zeros_like(training._parameters)
    training._ascent(chosen, 0.0, gradient)
    y, mu = optimum.counts[chosen], 2000.0
    information = float((y / (1 + y / mu)).sum())

    def likelihood():
        mean = training.expected(chosen)
        return float((y * mean.log() - (y + mu) * torch.log1p(mean / mu)).sum()) / information

    for i in (0, 3, 21, 30, 47, 51, 60, 100):
        training._parameters[i] += step
        above = likelihood()
        training._parameters[i] -= 2 * step
        slope = (above - likelihood()) / (2 * step)
        training._parameters[i] += step
        assert float(gradient[i]) == pytest.approx(slope, rel=0.05, abs=2e-5), i


def _with_signs(optimum, signs):
    z = optimum.attributes[optimum.rows]
    of_signs = AttributeFeatures.of(z, np.random.default_rng(0), curved=True, signs=np.array(signs))
    coefficients = torch.zeros(of_signs.n_features, dtype=torch.float64)
    prior = {"centre": coefficients, "precisions": torch.ones_like(coefficients)}
    return replace(optimum, features=of_signs, coefficients=coefficients, **prior)


def test_a_network_is_monotone_in_attributes_with_a_sign(monkeypatch):
    monkeypatch.setattr(stage, "_JUDGED", 100)
    monkeypatch.setattr(stage, "_MUCH_MORE", 500)
    optimum, _, z = _problem("xor", 0)
    signed = _with_signs(optimum, (1, 0, 0, -1))
    found = _trained(signed, (8, 8), always=True)
    g = found.optima[0].member().network
    for column, sign in ((0, 1), (3, -1)):
        line = np.tile(np.random.default_rng(1).random((20, 1, D)), (1, 30, 1))
        line[:, :, column] = np.linspace(0, 1, 30)
        logit = g.logit(torch.from_numpy(line.reshape(-1, D))).numpy().reshape(20, 30)
        assert (sign * np.diff(logit) >= -1e-9).all()
    assert np.ptp(g.logit(torch.from_numpy(z)).numpy()) > 0.5  # it acts


@pytest.mark.usefixtures("fewer_steps")
@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
@pytest.mark.parametrize("effects", [pytest.param((), marks=pytest.mark.slow), ("mode 1",)])
def test_a_fit_goes_on_with_a_network_by_minibatches(effects, monkeypatch, reloaded):
    monkeypatch.setattr(stage, "MOST_DESCENDED", 100)
    optimum, p, z = _problem("xor", 1)
    where, y = optimum.indices(slice(None)), optimum.counts.numpy().astype(int)
    counts = CountTensor(SHAPE, where, y, attributes=z[optimum.rows])
    always = Joint(network="always")
    settings = FitSettings(rank=RANK, hidden=(12, 10), effects=effects, solver=always, max_iter=150)
    found = fit(counts, settings)
    assert found.network_trained == (12, 10)
    never = fit(counts, replace(settings, solver=Joint(network="never")))
    assert (never.network_trained, never.network_gain) == ((), None)
    nothing = replace(found.network, layers=(*found.network.layers[:-1], np.full(10, 1e-9)))
    assert replace(found, network=nothing).n_parameters == never.n_parameters
    assert found.n_parameters > never.n_parameters + 100
    errors = [metrics.mae_detection(one.detection(z), p) for one in (found, never)]
    assert errors[0] < (0.9 if effects else 0.35) * errors[1]
    uncertain = found.detection(z, spread=True)
    assert (uncertain.high > uncertain.low).any()
    again = reloaded(found)
    assert again.network_gain == found.network_gain is not None
    np.testing.assert_array_equal(again.detection(z, spread=True).low, uncertain.low)
