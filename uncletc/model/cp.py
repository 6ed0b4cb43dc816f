"""The CP tensor of rates, λ = Σ_f ∏_k U_k(i_k, f), of factors U_k (paper, eq. 4a)."""

from collections.abc import Sequence

import numpy as np

from uncletc.common.validation import FloatArray, IntArray

_PATTERN = 0.1  # standard deviation of logarithms of a factor, below which its columns are alike


def has_patterns(factor: FloatArray) -> bool:
    """Whether the columns of a factor (I, F) differ by more than a multiple."""
    logs = np.log(np.maximum(factor, 1e-9 * factor.max()))
    rest = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True)
    return float(rest.std()) > _PATTERN


def products(
    factors: Sequence[FloatArray], indices: IntArray, skip: int | None = None
) -> FloatArray:
    """∏_k U_k(i_k, f) over all modes, except `skip`, of valid entries (n, K); (n, F)."""
    modes = [mode for mode in range(len(factors)) if mode != skip]
    product = np.asarray(factors[modes[0]][indices[:, modes[0]]], dtype=np.float64)
    for mode in modes[1:]:
        product *= factors[mode][indices[:, mode]]
    return product


def rate_tensor(factors: Sequence[FloatArray]) -> FloatArray:
    """Every entry of the CP tensor λ_i = Σ_f ∏_k U_k(i_k, f) (paper, eq. 4a).

    Parameters
    ----------
    factors : sequence of ndarray, shapes (I_k, F)
        U_k.

    Returns
    -------
    ndarray, shape (I_1, …, I_K)

    Examples
    --------
    >>> import numpy as np
    >>> rate_tensor([np.ones((2, 1)), np.full((3, 1), 2.0)]).tolist()
    [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    """
    product = np.asarray(factors[0], dtype=np.float64)
    for factor in factors[1:-1]:
        product = (product[:, None, :] * factor[None, :, :]).reshape(-1, factor.shape[1])
    dense: FloatArray = product @ factors[-1].T
    return dense.reshape([len(factor) for factor in factors])


def fill_rows(factors: Sequence[FloatArray], indices: IntArray) -> tuple[FloatArray, ...]:
    """Copy the factors; rows of slices without a count become the mean of the others."""
    filled = []
    for mode, factor in enumerate(factors):
        seen = np.bincount(indices[:, mode], minlength=len(factor)) > 0
        filled.append(np.where(seen[:, None], factor, factor[seen].mean(axis=0)))
    return tuple(filled)
