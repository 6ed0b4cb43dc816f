"""What a step of the effects moves beside them, and what each row looks up of both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.result.posterior import Float32Array
from uncletc.solvers.joint.kernels import IndexArray


@dataclass(frozen=True, eq=False)
class Linear:
    """Coefficients that move in the same step, of what else log expected counts are made of.

    Attributes
    ----------
    bins, of_bins : callable
        From changes of the coefficients (C, Q) to those of the logarithm of expected counts in
        each bin (C, B), and the transpose.
    sloped : ndarray, shape (A, J)
        Bins of the first A rows whose sum `slope` multiplies.
    slope : ndarray, shape (A,)
    codes : ndarray, shape (N, J')
        Further bins of each row.
    n_bins : int
        B.
    gap, precision : ndarray, shape (Q,)
        Of the coefficients from the centre of their normal prior, and its precisions.
    lowest : ndarray, shape (Q,)
        Least changes allowed; -inf where there is none.
    design : callable
        From ascending numbers of rows (R,) to the derivatives of their logarithms (R, Q).
    moves : ndarray of bool, shape (Q,)
        Which may change.
    """

    bins: Callable[[FloatArray], FloatArray]
    of_bins: Callable[[FloatArray], FloatArray]
    sloped: IndexArray
    slope: FloatArray
    codes: IndexArray
    n_bins: int
    gap: FloatArray
    precision: FloatArray
    lowest: FloatArray
    design: Callable[[IntArray], Float32Array]
    moves: NDArray[np.bool_]


def no_coefficients(n_rows: int) -> Linear:
    """Return none, beside the random effects of so many rows."""
    nothing, none = np.empty(0), np.empty(0, dtype=bool)
    codes = np.zeros((n_rows, 0), dtype=np.int32)

    def empty(rows: NDArray[Any]) -> Float32Array:
        return np.zeros((len(rows), 0), dtype=np.float32)

    bins: Any = empty
    return Linear(bins, bins, codes[:0], nothing, codes, 0, nothing, nothing, nothing, empty, none)
