"""What the detection network sees of the attributes."""

import numpy as np
import pytest
import torch

from uncletc.model.features import AttributeFeatures


def make(z, *, curved=True):
    return AttributeFeatures.of(z, np.random.default_rng(0), curved=curved)


@pytest.fixture
def z(rng):
    return rng.normal(size=(400, 3)) * [1.0, 1e6, 1e-6] + [0.0, -5e6, 3.0]


def test_columns_have_unit_variance_and_do_not_repeat_within_an_attribute(z):
    features = make(z)
    found = features(torch.tensor(z)).numpy()
    assert found.shape == (400, features.n_features)
    curves = found[:, 1 : 1 + len(features.curve_roughness)]
    np.testing.assert_allclose(curves.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(curves.std(axis=0), 1.0, rtol=1e-3)
    per_attribute = curves.shape[1] // 3
    own = np.corrcoef(curves[:, :per_attribute].T)
    np.testing.assert_allclose(own, np.eye(per_attribute), atol=1e-3)
    assert (found[:, 0] == 1).all()


@pytest.mark.parametrize("curved", [True, False])
def test_weighted_columns_without_the_columns(z, curved, rng):
    z[:, 2] = rng.integers(0, 3, len(z))  # fewer values than basis functions: columns drop out
    features = make(z, curved=curved)
    weights = torch.tensor(rng.normal(size=features.n_features))
    seen = torch.tensor(np.vstack([z, 10 * z]))  # beyond the range over Ξ, too
    found = features.weighted(seen, weights)
    np.testing.assert_allclose(found, features(seen) @ weights, rtol=1e-9, atol=1e-9)


def test_monotone_curves_rise_and_have_unit_variance_together(rng):
    z = np.column_stack([rng.random(900), rng.gamma(0.5, 1, 900), rng.integers(0, 2, 900)])
    signs = np.array([1, -1, 1])
    features = AttributeFeatures.of(z, rng, curved=True, signs=signs)
    values = features(torch.from_numpy(z)).numpy()
    assert features.monotone[1:].all()
    assert not features.monotone[0]
    ends = 1 + np.cumsum(features.columns)
    for j, sign in enumerate(signs):
        own = values[:, ends[j] - features.columns[j] : ends[j]]
        steps = sign * np.diff(own[np.argsort(z[:, j])], axis=0)
        assert steps.min() > -1e-7
        np.testing.assert_allclose(own.sum(axis=1).std(), 1.0, atol=0.01)
    assert features.columns[2] == 1
