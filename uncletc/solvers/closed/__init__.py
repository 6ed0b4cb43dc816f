"""Closed fits: repeat visits at which the very same true events are counted.

Model. Modes are closed (visits), along which true counts stay the same, or open (sites, species).
A cell, one index of each open mode, has n true events,

    n ~ Poisson(λ), or negative binomial with variance λ + λ²/μ,
    y_v ~ Binomial(n, p_v),     p_v = g(z_v),     visits independent of each other given n.

λ is exposure times exp(xᵀβ) times a low-rank nonnegative CP tensor over the open modes, and g the
sum of curves of the joint solver, with its priors (:mod:`~uncletc.solvers.joint.smoothing`). n is
summed out (:mod:`~uncletc.solvers.closed.sums`): how much visits to a cell have in common beyond λ
determines how many events there were, so λ and p are absolute. This is the N-mixture model of Royle
(Biometrics 2004), ``pcount`` in the R package unmarked, with λ of low rank.

With one open mode (:mod:`~uncletc.solvers.closed.sites`) a factor of each site would be as many
parameters as there are sites, and p comes out too small. There the factor of a site is integrated
out, gamma (n is negative binomial) or log-normal, about exp(xᵀβ)
(:mod:`~uncletc.solvers.closed.marginal`); the likeliest parameters are found by L-BFGS, and n and λ
of each site drawn given its counts. Rank has no meaning.

With two or more open modes λ is a CP tensor (:mod:`~uncletc.solvers.closed.tensor`). Its factors,
as parameters beside p, would explain part of what is chance in n, and p would come out too small.
So p is that of cells integrated out about what other cells let expect of each, over the mean p of
its levels; p of each level of a mode, such as of each species, is a hierarchy
(:mod:`~uncletc.solvers.closed.hierarchy`). Factors are found by EM given p, with μ by maximum
likelihood, and drawn by a Gibbs sampler given draws of p.

Captures of marked animals, and removal, have the likelihood of their histories
(:mod:`~uncletc.solvers.closed.histories`), transects that of distances
(:mod:`~uncletc.solvers.closed.transects`).

Intervals are draws from the curvature of the likelihood, of the level of p along its posterior.
Whether the level can be believed is tested with every fit
(:mod:`~uncletc.solvers.closed.level`). No network is trained; one member.
"""

from uncletc.data.counts import CountTensor
from uncletc.fitting.settings import FitSettings
from uncletc.result.fit_result import Callback, Fit
from uncletc.solvers.closed.cells import Cells, check_closed
from uncletc.solvers.closed.histories import Histories
from uncletc.solvers.closed.histories import Search as SearchOfHistories
from uncletc.solvers.closed.sites import Search, Sites
from uncletc.solvers.closed.sums import log_likelihood
from uncletc.solvers.closed.tensor import fit_tensor
from uncletc.solvers.closed.transects import fit_transects

__all__ = ["check_closed", "fit_closed", "log_likelihood"]


def fit_closed(counts: CountTensor, settings: FitSettings, callback: Callback | None) -> Fit:
    """Fit counts that :func:`check_closed` accepts; see :func:`uncletc.fit` for the arguments.

    The objective in the history is minus the mean log-likelihood per observed entry. The fit stops
    when the log posterior has settled, after ``max_iter`` steps, or when the callback returns True.
    """
    cells = Cells.of_counts(counts, settings.closed)
    sites = Sites(counts, settings, cells, callback)
    if "transect" in counts.protocol:
        return fit_transects(sites)
    if counts.captures is not None or counts.protocol:
        return SearchOfHistories(sites, Histories.of(counts, cells)).run()
    if len(cells.open_modes) == 1:
        return Search(sites, sites.marginal(cells)).run()
    return fit_tensor(sites)
