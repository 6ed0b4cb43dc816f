"""Fits of real counts, each scored on a fold that it has not seen; finished ones go to a file."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._crps import crps
from benchmarks.methods import ALL, stack_of
from uncletc import METHODS, CountTensor, FitError, FitSettings, datasets
from uncletc.baselines import Method
from uncletc.common.validation import IntArray
from uncletc.compare import FoldKind, Trial, make_folds, run_trial, splits
from uncletc.compare.metrics import rrmse
from uncletc.datasets import Dataset
from uncletc.model.negbin import floored

RANKS = {"covid": 15, "ppi": 5}
KINDS: tuple[FoldKind, ...] = ("entry", "fibre")
SEEDS = [0, 301, 302]
ROLES = "UncleTC with roles"
EXTENDED = "UncleTC with effects"
PLAIN = "UncleTC with plain effects"  # of places, never orthogonal to attributes
BARE = "UncleTC with effects, no attributes"
NO_GAP = " without testing gap"  # the attribute that holds counts of the days held out
STACKED = ("NB regression", "Neighbours", "LightGBM")
_GAP = "testing gap"
_SCORES = ("log_score", "log_score_one_phi", "crps", "deviance", "mae", "rrmse", "rrmse_rest")
_COLUMNS = (*_SCORES, "mu", "power", "phi", "seconds")
_LARGEST = 0.005  # share of counts that may hold half of all squared error
_KEY = ["data", "held_out", "method", "seed", "fold"]

# The quick ones first, those of the paper that take longest last.
NAMES = (
    *("Constant", "Main effects", "Neighbours", "NB regression"),
    *("UncleTC", EXTENDED, PLAIN, BARE, ROLES, "LightGBM", "Stack"),
    *("UncleTC(Linear)", "NTF-CPD-KL", "BPTF", "NTF-CPD-LS"),
    *(f"NB regression{NO_GAP}", f"LightGBM{NO_GAP}"),
    *("NTF-Tucker-LS", "HaLRTC", "CoSTCo", "POND"),
)


@dataclass(frozen=True)
class Model:
    """A row of the report: a method, its settings, and the counts with the roles it takes."""

    method: Method
    settings: Any
    counts: CountTensor


@cache
def dataset(name: str) -> Dataset:
    """Load real counts."""
    return datasets.load(name)


def model(name: str, data: str, kind: FoldKind) -> Model | None:
    """Return a row by its name; None where it has no sense."""
    given = dataset(data)
    if name in {ROLES, EXTENDED, PLAIN, BARE}:
        return _ours(name, data)
    plain = name.removesuffix(NO_GAP)
    counts = given.counts
    if plain != name:
        others = [each for each in counts.attribute_names if each != _GAP]
        if len(others) == len(counts.attribute_names):
            return None
        counts = counts.with_roles(detection=others)
    method = stack_of([ALL[each] for each in STACKED]) if plain == "Stack" else ALL[plain]
    chosen: dict[str, Any] = {"rank": RANKS[data]} if method.has_rank else {}
    if plain in {"Neighbours", "LightGBM", "Stack"}:
        chosen["held"] = kind
    return Model(method, method.settings(**chosen), counts)


def _ours(name: str, data: str) -> Model | None:
    """A row of the extended model; None where it would be the same as another."""
    given = dataset(data)
    counts, signs, effects = given.with_roles().counts, given.roles.signs, list(given.effects)
    if name == ROLES:
        effects = []
    elif name == PLAIN:
        effects = [re.sub(r"orthogonal\((.*)\)", r"\1", each) for each in effects]
        if effects == list(given.effects):
            return None
    elif name != EXTENDED:
        counts, signs = given.counts.with_roles(detection=[]), {}
    settings = FitSettings(rank=RANKS[data], signs=signs, effects=effects)
    return Model(replace(METHODS["UncleTC"], name=name), settings, counts)


def run_all(
    path: Path, names: Sequence[str], data: Sequence[str], seeds: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """Run what is not yet in the file, and add it there; yield each new row."""
    done = set()
    if path.exists():
        found = read(path)
        current = found["log_score"].notna() | found["log_score_one_phi"].isna()
        done = set(found.loc[current, _KEY].itertuples(index=False, name=None))
    for name, seed, which, kind in product(names, seeds, data, KINDS):
        for row in _rows(name, seed, which, kind, done):
            _add(path, row)
            yield row


def read(path: Path) -> pd.DataFrame:
    """Read a file of trials.

    Those from before scatter depended on the expected count have only ``log_score_one_phi``, and no
    ``crps``; of a method that could not be fitted there is nothing but the key.
    """
    return pd.read_csv(path)


def _rows(name: str, seed: int, data: str, kind: FoldKind, done: set) -> Iterator[dict[str, Any]]:
    chosen = model(name, data, kind)
    if chosen is None:
        return
    for split in splits(make_folds(dataset(data).counts, kind=kind, seed=seed)):
        key = dict(zip(_KEY, (data, kind, name, seed, split.trial), strict=True))
        if tuple(key.values()) in done:
            continue
        began = time.process_time()
        try:
            trial = run_trial(chosen.counts, chosen.method, chosen.settings, split, None, None)
        except FitError:
            yield key
            continue
        seconds = time.process_time() - began
        found = asdict(trial.test) | _further(trial, chosen.counts.counts[trial.rows])
        scores = {each: round(found[each], 5) for each in _SCORES}
        scores["mu"] = float(f"{trial.law.mu:.4g}")
        scores["power"], scores["phi"] = round(trial.law.power, 4), round(trial.phi, 4)
        yield key | scores | {"seconds": round(seconds, 2)}


def _further(trial: Trial, y: IntArray) -> dict[str, float]:
    """Mean CRPS of the counts tested, and rRMSE of all of them but the largest .5 %."""
    rest = y <= np.quantile(y, 1 - _LARGEST)
    mean = floored(trial.predicted)
    return {
        "crps": float(crps(y, mean, trial.law.phi(mean)).mean()),
        "rrmse_rest": rrmse(y[rest], trial.predicted[rest]),
    }


def _add(path: Path, row: dict[str, Any]) -> None:
    """Put a row in the place of an older one with the same key."""
    rows = pd.DataFrame([row], columns=[*_KEY, *_COLUMNS])
    if path.exists():
        rows = pd.concat([read(path), rows])
    rows = rows.drop_duplicates(_KEY, keep="last")
    partial = path.with_suffix(".partial")
    rows.to_csv(partial, index=False, lineterminator="\n")
    partial.replace(path)
