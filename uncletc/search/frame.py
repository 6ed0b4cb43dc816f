"""The trials of a study as a table."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from optuna.trial import FrozenTrial, TrialState

from uncletc.search.journal import folds_of, is_interrupted
from uncletc.search.space import Space
from uncletc.search.work import mean_sd

_STATES = {
    TrialState.COMPLETE: "complete",
    TrialState.PRUNED: "pruned",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "running",
    TrialState.WAITING: "waiting",
}


def frame_of(trials: Iterable[FrozenTrial], space: Space) -> pd.DataFrame:
    """One row per trial; see :class:`uncletc.search.Study`."""
    rows = []
    for one in trials:
        chosen = one.params or one.system_attrs.get("fixed_params", {})
        if is_interrupted(one) or set(chosen) != set(space):  # or only now beginning
            continue
        folds = [found for found in folds_of(one).values() if "error" not in found]
        errors = [found["validation"]["rrmse"] for found in folds]
        value, sd = mean_sd(errors)
        rows.append(
            {
                "number": one.number,
                "state": _STATES[one.state],
                "value": value,
                "sd": sd,
                "folds": len(folds),
                "seconds": float(sum(found["seconds"] for found in folds)),
                **{name: chosen[name] for name in space},
            }
        )
    columns = ["number", "state", "value", "sd", "folds", "seconds", *space]
    return pd.DataFrame(rows, columns=columns)
