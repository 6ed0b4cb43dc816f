"""fit_formula: a fit from a table and a formula, as in unmarked and glmmTMB."""

import re
from typing import Any

import numpy as np
import pandas as pd
from formulaic import Formula

from uncletc.data.counts import CountTensor
from uncletc.data.entries import pandas_of
from uncletc.fitting.fit import fit
from uncletc.result.fit_result import Fit
from uncletc.solvers.options import options_of

_RANDOM = re.compile(r"\(\s*1\s*\|\s*([^()|]+?)\s*\)")
_LEVEL = re.compile(r"(.+)\[(?:T\.)?(.+)\]")
_FORM = "count ~ mode + mode | covariates of λ | covariates of p"


def fit_formula(
    formula: str, table: pd.DataFrame, *, exposure: str | None = None, **options: Any
) -> Fit:
    """Estimate λ and p from a table in long form by a formula.

    Parameters
    ----------
    formula : str
        ``"count ~ site + day | elevation + (1 | site) | temperature + observer"``: the column of
        counts; the modes, columns that name an entry; covariates and random effects of the true
        rate λ; covariates of detection p. The last two may be empty or left out. Covariates may be
        any terms of formulaic, such as ``log(area)``, ``C(year)`` or ``a:b``; (1 | a:b) is a random
        effect of each pair.
    table : DataFrame
        Of pandas or polars, one row per entry; an empty count was not counted.
    exposure : str, optional
        A column of numbers > 0 that true counts are proportional to.
    **options
        Settings of the fit; see :func:`uncletc.fit`. Unless they say otherwise, log λ and logit p
        are linear in the terms: ``hidden=()`` and ``rate_terms="values"``.

    Returns
    -------
    Fit
        Its `counts` hold the table's counts and the terms as attributes.

    Raises
    ------
    ValueError, TypeError
        If the formula has another form, or names no column.

    Examples
    --------
    >>> table = pd.DataFrame({"site": list("aabb"), "day": [1, 2, 1, 2], "count": [4, 1, 3, 2]})
    >>> table["wind"] = [0.1, 0.7, 0.4, 0.2]
    >>> found = fit_formula("count ~ site + day | | wind", table, rank=1, solver="bcd", max_iter=0)
    >>> found.counts.attribute_names
    ('wind',)
    """
    table = pandas_of(table, "table")
    counted, _, right = formula.partition("~")
    groups = [map(str.strip, each.split(":")) for each in _RANDOM.findall(right)]
    random = [" × ".join(each) for each in groups]
    parts = [part.strip() for part in _RANDOM.sub("", right).split("|")]
    modes = [each.strip() for each in re.sub(r"[()]", "", parts[0]).split("+")]
    if not counted.strip() or len(modes) < 2 or len(parts) > 3:
        raise ValueError(f"formula must have the form {_FORM!r}, got {formula!r}")
    rate, detection = (_terms(part, table) for part in [*parts[1:], "", ""][:2])
    counts = CountTensor.from_frame(
        table.assign(**(rate | detection)),
        modes=modes,
        counts=counted.strip(),
        attributes=list(detection),
        rate_attributes=list(rate),
        exposure=exposure,
    )
    linear: dict[str, Any] = {"hidden": ()}
    if options_of(options.get("solver", "joint")).name == "joint":
        linear["rate_terms"] = "values"
    return fit(counts, effects=random, **(linear | options))


def _terms(part: str, table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the columns of a model matrix without its intercept, by name."""
    part = re.sub(r"(^|\+)\s*(?=\+|$)", "", part).strip(" +")
    if not part or part == "1":
        return {}
    try:
        matrix = Formula(f"1 + {part}").get_model_matrix(table, na_action="ignore")
    except Exception as error:  # formulaic has no common class of errors
        reason = str(error).splitlines()[0]
        raise ValueError(f"formula must name columns of the table in {part!r}: {reason}") from error
    return {
        _LEVEL.sub(r"\1: \2", str(name)): matrix[name].to_numpy(np.float64)
        for name in matrix.columns
        if name != "Intercept"
    }
