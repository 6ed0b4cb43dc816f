"""A closed fit of transects: numbers of animals by distance from a line or a point.

Of n animals of a site a share π_j is in band j, by its area, and is seen there with probability
p_j, the mean over the band of a detection function (Buckland et al., Distance Sampling, 2001)

    g(d) = exp(-(d/σ)²/2), half-normal,    or    1 - exp(-(d/σ)^-b), hazard-rate,

which is 1 at distance 0. Given that an animal was seen, it was so in band j with probability
π_j p_j / Σ π p, whatever is assumed of n. σ and b, log-uniform before the counts are seen, and
which of the two functions it is, have their posterior under these summed over a grid: where both
fit alike intervals hold what either says. Animals of groups are seen together, and more of a site
are in one band than by chance: the likelihood is taken to the power of one over the size of groups
by :func:`_size`, and those missed are drawn in such groups. The number M of animals seen at a site
is that of :mod:`~uncletc.solvers.closed.histories`, with 1 - q = Σ π p.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.special import expit, logit, logsumexp

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.protocols import band_edges
from uncletc.fitting.history import StopReason
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import Doubt
from uncletc.solvers.closed.design import Design
from uncletc.solvers.closed.histories import Histories, Search
from uncletc.solvers.closed.sites import Sites
from uncletc.solvers.uncertainty.draws import DRAWS

_NODES = 12  # of Gauss and Legendre, in each band
_SIGMA = (0.01, 3.0)  # over the farthest distance
_LEAST_SHAPE = 1.0, 1.5  # b, of lines and of points, near which is too little area to show a spike
_MOST_SHAPE = 20.0
_STEPS = 120, 20  # of the grid
_SEEN = 1 - 1e-9  # p at most, so that its logit is finite


@dataclass(frozen=True, eq=False)
class Bands(Histories):
    """Animals seen at each site, by band.

    Attributes
    ----------
    share : ndarray, shape (N,)
        π of the band of each count.
    band : ndarray of int, shape (N,)
    """

    share: FloatArray
    band: IntArray

    def log_never(self, logit: FloatArray, _deviation: float = 0.0) -> FloatArray:
        """log q of each cell; (C,)."""
        seen = np.bincount(self.cells.of, self.share * expit(logit), len(self.animals))
        return np.log1p(-np.minimum(seen, _SEEN))

    def availability(self, logit: FloatArray) -> FloatArray:
        """Share of n that is in the band of each count; (N,)."""
        return np.broadcast_to(self.share, logit.shape)

    def log_likelihood(
        self, logit: FloatArray, _deviation: float = 0.0
    ) -> tuple[float, FloatArray]:
        """Of the bands in which animals were seen, given that they were; derivatives are not."""
        seen = self.share * expit(logit)
        ever = np.bincount(self.cells.of, seen, len(self.animals))
        log = self.cells.counts @ np.log(seen) - self.animals @ np.log(ever)
        return float(log), np.empty(0)


def fit_transects(sites: Sites) -> Fit:
    """Fit numbers of animals by site and band; see :mod:`uncletc.solvers.closed.transects`."""
    counts, cells = sites.counts, sites.cells
    (mode,) = (k for k in range(2) if k not in cells.open_modes)
    edges, point = band_edges(counts.labels[mode]), counts.protocol == "point transect"
    assert edges is not None
    area = np.diff(edges ** (1 + point), axis=1).ravel()
    share = area / area.sum()
    band = counts.indices[cells.order, mode]
    animals = np.bincount(cells.of, cells.counts, len(cells.indices)).astype(np.int64)
    bands = Bands(cells, animals, None, None, None, share[band], band)
    features = sites.features(torch.from_numpy(np.eye(len(share))[:, 1:])).numpy()
    sites.design = Design(np.zeros(features.shape[1]), features[band])
    return _Search(sites, bands, features, edges, share, point=point).run()


def _size(bands: Bands, p: FloatArray) -> float:
    """Mean size of each animal's group, by pairs that are in one band; p of each band is (J,).

    1 where there are no more of these than by chance.
    """
    of, y, m = bands.cells.of, bands.cells.counts, bands.animals
    seen = bands.share * p[bands.band]
    seen /= np.bincount(of, seen)[of]
    more = float((y * (y - 1) / seen).sum()) - float((m * (m - 1)).sum())
    return 1 + max(more, 0.0) / max(float(m @ (np.bincount(of) - 1)), 1.0)


class _Search(Search):
    """θ by the posterior of detection functions of a grid, γ as usual.

    Attributes
    ----------
    features : ndarray, shape (J, Q)
    share : ndarray, shape (J,)
        π of each band.
    p : ndarray, shape (G, J)
        Of each band, by each function.
    weights : ndarray, shape (G,)
        Of the functions.
    """

    def __init__(
        self,
        sites: Sites,
        bands: Bands,
        features: FloatArray,
        edges: FloatArray,
        share: FloatArray,
        *,
        point: bool,
    ) -> None:
        super().__init__(sites, bands)
        self.features, self.share = features, share
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        middle, half = edges.mean(axis=1)[:, None], np.diff(edges, axis=1) / 2
        d = middle + half * nodes
        weights = weights * (d if point else np.ones_like(d))
        weights /= weights.sum(axis=1, keepdims=True)
        ratio = d / (edges.max() * np.geomspace(*_SIGMA, _STEPS[0])[:, None, None])
        shape = np.geomspace(_LEAST_SHAPE[point], _MOST_SHAPE, _STEPS[1])[:, None, None]
        hazard = -np.expm1(-(ratio[:, None] ** -shape)).reshape(-1, *d.shape)
        g = [np.exp(-(ratio**2) / 2), hazard]
        self.p = np.clip((np.concatenate(g) * weights).sum(axis=2), 1e-12, _SEEN)
        looked = np.zeros((len(bands.animals), len(share)))
        looked[bands.cells.of, bands.band] = 1.0
        y = np.bincount(bands.band, bands.cells.counts, len(share))
        log = np.log(share * self.p) @ y - bands.animals @ np.log(looked @ (share * self.p).T)
        form = np.repeat([0, 1], list(map(len, g)))
        prior = -np.log(np.bincount(form))[form]  # forms are equally likely
        self.size = _size(bands, self.p[np.argmax(log)])
        log = log / self.size + prior
        self.weights = np.exp(log - logsumexp(log))

    def result(self, stop: StopReason, rng: np.random.Generator | None = None) -> Fit:
        """Return the estimates, from which counts of groups scatter as they should."""
        found = super().result(stop, rng)
        return replace(found, dispersion=found.dispersion / self.size)

    def _theta(self, p: FloatArray) -> FloatArray:
        """θ with these p of bands (..., J); (..., Q)."""
        return np.asarray(np.linalg.lstsq(self.features, logit(p).T, rcond=None)[0].T)

    def likeliest(self) -> FloatArray:
        """θ with the posterior mean of p; (Q,)."""
        return self._theta(self.weights @ self.p)

    def variances(self) -> FloatArray:
        """Of θ; (Q,)."""
        away = self._theta(self.p) - self.theta
        return np.asarray(self.weights @ away**2)

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, int]:
        """Draws of θ (R, Q), shares of animals ever seen (R, C), and how many by equal p: all."""
        theta = self._theta(self.p[rng.choice(len(self.p), DRAWS, p=self.weights)])
        return theta, np.array([-np.expm1(self._log_never(each)) for each in theta]), DRAWS

    def levels(self, of_p: FloatArray) -> FloatArray:
        """Share of animals seen where all bands are looked at, by draws of θ (R, Q); (R,)."""
        return np.asarray(self.share @ expit(self.features @ of_p.T))

    def doubts(self, levels: FloatArray, ever: FloatArray, numbers: IntArray) -> list[Doubt]:
        """Why the level cannot be believed: p is 1 at distance 0, and may be small elsewhere."""
        return [it for it in super().doubts(levels, ever, numbers) if it is not Doubt.LOW]
