"""Steps of the curves."""

import numpy as np
import torch

from uncletc import simulate
from uncletc.data.stacked import StackedObservations
from uncletc.model.features import AttributeFeatures
from uncletc.solvers.effects.blocks import cholesky
from uncletc.solvers.joint.curve_steps import Detection
from uncletc.solvers.joint.curves import BinnedCurves
from uncletc.solvers.joint.members import Entries


def bends(straight, steps):
    """Largest coefficient of a bend after some steps, where λ is known."""
    counts, truth = simulate((12, 12, 12), 2, observed=0.5, seed=3)
    features = AttributeFeatures.of(counts.attributes, np.random.default_rng(0), curved=True)
    observations = StackedObservations.of(counts)
    entries = Entries(counts, observations, features, None)
    theta = torch.zeros(1, features.n_features, dtype=torch.float64)
    detection = Detection(entries, features, theta, straight=straight)
    order = np.argsort(counts.attribute_rows < 0, kind="stable")
    rate = torch.from_numpy(truth.rate[tuple(counts.indices[order].T)])[:, None]
    held = torch.zeros(1, dtype=torch.bool)
    mu = torch.full((2, 1), 1e5, dtype=torch.float64)
    for _ in range(steps):
        detection.step(rate, mu, dispersion=1.0, held=held, renew=True)
    rough = torch.from_numpy(features.curve_roughness > 0)
    return float(detection.theta[0, 1:][rough].abs().max())


def test_sums_of_two_kinds_of_features():
    """The rows of one may be the first of the other's: counts whose p is known have no curves."""
    rng = np.random.default_rng(0)
    z, x, weights = rng.random((90, 2)), rng.random((120, 3)), torch.from_numpy(rng.random((90, 2)))
    curves = AttributeFeatures.of(z, rng, curved=True)
    lines = AttributeFeatures.of(x, rng, curved=False)
    own, other = curves(torch.from_numpy(z)), lines(torch.from_numpy(x))[:90]
    direct = torch.einsum("nq,np,nm->mqp", own, other, weights)
    further = BinnedCurves(lines, x, np.arange(120))
    binned = BinnedCurves(curves, z, np.arange(90)).cross(further, weights)
    torch.testing.assert_close(binned, direct, rtol=1e-4, atol=1e-3)


def test_curves_hardly_bend_at_first_where_that_is_asked():
    assert bends(straight=30, steps=20) < 0.5 * bends(straight=0, steps=20)


def test_slightly_indefinite_second_derivatives_still_precondition():
    """Cross derivatives of binned curves are off by 1e-4; real counts at μ = 10000 had this."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 5))
    system = half @ half.T * 1e6 - 10 * np.eye(30)
    lower, _ = cholesky(system)
    assert np.isfinite(lower).all()
    exact = np.eye(4) * [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_array_equal(np.tril(cholesky(exact)[0]), np.sqrt(exact))
