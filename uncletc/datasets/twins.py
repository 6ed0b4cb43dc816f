"""What the simulated stand-ins for the two real data sets have in common.

They contain no real observation. They have the modes, tables and kinds of attributes of the real
sets, and roughly their share of missing entries and spread of counts; attributes have roles, places
and visits have effects, and the truth is known exactly. Use them to try the method, to teach, and
to compare estimates with the truth. ``data/make_twins.py`` makes their files.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from uncletc.common.array_files import read_arrays
from uncletc.common.validation import FloatArray
from uncletc.datasets.base import DataUnavailableError

LEVELS = 255
"""Attributes are stored as whole numbers from 0 to this, so that p is exactly g of what is read."""

Arrays = Mapping[str, NDArray[Any]]


def detection_probability(z: FloatArray, network: Arrays) -> FloatArray:
    """Evaluate the twins' true detection function.

    g(z) = sigmoid(b + Σ_h w_h tanh(c_h + Σ_d v_hd z_d))

    Parameters
    ----------
    z : ndarray, shape (n, D)
        Attributes, 0 to 1.
    network : mapping of str to ndarray
        ``hidden_weights`` v of shape (H, D), ``hidden_bias`` c of shape (H,), ``output_weights``
        w of shape (H,), and ``output_bias`` b of shape ().

    Returns
    -------
    ndarray, shape (n,)
        p in (0, 1).
    """
    hidden = np.tanh(z @ network["hidden_weights"].T + network["hidden_bias"])
    p: FloatArray = expit(hidden @ network["output_weights"] + network["output_bias"])
    return p


def read_twin(name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a twin's file.

    Raises
    ------
    DataUnavailableError
        If the file is missing or damaged.
    """
    package = Path(__file__).parents[1]
    # An installed package carries the folder; a checkout keeps it beside the package.
    for folder in (package / "_data", package.parent / "data"):
        path = folder / name
        if path.is_file():
            break
    else:
        raise DataUnavailableError(
            f"{name} is missing from {package / '_data'}; reinstall uncletc, or run "
            f"data/make_twins.py in a checkout"
        )
    try:
        return read_arrays(path)
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise DataUnavailableError(
            f"{path} cannot be read ({error}); reinstall uncletc, or run data/make_twins.py in a "
            f"checkout"
        ) from error
