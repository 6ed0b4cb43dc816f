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

With two or more open modes λ is a CP tensor (:mod:`~uncletc.solvers.closed.fitting`):

1. L-BFGS on the exact log-likelihood and the priors, over log-factors and coefficients together,
   from several starts; the likeliest go on until the objective has settled, and the best is kept.
2. How smooth curves are and how much factors vary, from the curvature, and μ, unless the settings
   give it, by maximum likelihood given λ and p; three times over.
3. The level of p. As many factors as there are parameters explain part of what is chance in n, and
   the likeliest level is too low. So the level is that of the largest marginal likelihood,
   everything else integrated out by Laplace's method (as the adjusted profile likelihood of Cox
   and Reid, 1987). Where that moves μ, steps 2 and 3 for μ and the level again.

Intervals are draws from the curvature of the likelihood. Whether the level can be believed is
tested with every fit (:mod:`~uncletc.solvers.closed.level`). No network is trained; one member.
"""

from uncletc.solvers.closed.cells import check_closed
from uncletc.solvers.closed.fitting import fit_closed
from uncletc.solvers.closed.sums import log_likelihood

__all__ = ["check_closed", "fit_closed", "log_likelihood"]
