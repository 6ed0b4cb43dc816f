"""Minimisation of a smooth function by L-BFGS, within bounds if there are any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import Bounds, minimize
from torch import Tensor

from uncletc.common.validation import FloatArray

_MEMORY = 100  # pairs of L-BFGS: 30 needs 1.3 times the iterations

Objective = Callable[[Tensor], tuple[float, Tensor]]


def minimize_lbfgs(
    objective: Objective, start: Tensor, bounds: Bounds | None, iterations: int
) -> Tensor:
    """Descend from a start by so many iterations at most.

    Parameters
    ----------
    objective : callable
        Value and gradient (P,) at a point (P,).
    start : Tensor, shape (P,)
        In double precision.
    bounds : Bounds, optional
        Of each parameter. Without any a third to a half of the time suffices for 300 iterations.
    iterations : int
    """
    if bounds is None:
        return _free(objective, start, iterations)
    return _bounded(objective, start, bounds, iterations)


def _free(objective: Objective, start: Tensor, iterations: int) -> Tensor:
    values = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [values],
        max_iter=iterations,
        max_eval=2 * iterations,
        history_size=_MEMORY,
        line_search_fn="strong_wolfe",
        tolerance_grad=0,
        tolerance_change=0,
    )

    def closure() -> float:
        value, values.grad = objective(values)
        return value

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    return values.detach()


def _bounded(objective: Objective, start: Tensor, bounds: Bounds, iterations: int) -> Tensor:
    """Where L-BFGS-B ends."""

    def plain(values: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = objective(torch.from_numpy(values))
        return value, gradient.numpy()

    found = minimize(
        plain,
        start.numpy(),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={
            "maxiter": iterations,
            "maxfun": 2 * iterations,
            "maxcor": _MEMORY,
            "ftol": 0,
            "gtol": 0,
        },
    )
    return torch.from_numpy(np.asarray(found.x, dtype=np.float64))
