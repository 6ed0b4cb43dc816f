"""Former name of :mod:`uncletc.compare`, for one more release."""

import warnings
from typing import Any

from uncletc import compare


def __getattr__(name: str) -> Any:
    if name not in compare.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn("uncletc.evaluation is now uncletc.compare", DeprecationWarning, stacklevel=2)
    return getattr(compare, name)
