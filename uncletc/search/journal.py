"""The file of a search: Optuna's journal, one JSON object a line, with one study in it.

Any Optuna of the same major version reads it (``JournalFileBackend``). The backend here differs in
three ways: only one search at a time may write; a last line that was cut off in the middle of
writing is left out when reading and removed before writing goes on; and reading touches nothing.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from uncletc.search.space import Space

try:
    import fcntl
except ImportError:  # no advisory locks on this system: two searches of one file are not refused
    fcntl = None  # type: ignore[assignment]

STUDY = "uncletc search"
ATTEMPTS = 3  # times that a trial may be begun; one that kills its worker must not go on for ever
_BEGINNING = b'{"op_code":'  # of every line
ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class Journal(BaseJournalBackend):
    """The lines of the file, kept in memory too: nobody else writes."""

    def __init__(self, path: Path, file: io.BufferedRandom | None = None) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        self._logs = [_parse(line, i, path) for i, line in enumerate(data[:whole].splitlines(), 1)]
        self._file = file
        if not data[whole:].startswith(_BEGINNING[: len(data) - whole]):
            raise _foreign(path, len(self._logs) + 1)
        if file is not None and whole < len(data):
            file.truncate(whole)

    def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:
        """Return all but the first lines."""
        return iter(self._logs[log_number_from:])

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write lines, and wait until they are on the disk."""
        if self._file is None:
            raise io.UnsupportedOperation("this study was opened to be read")
        lines = [json.dumps(log, separators=(",", ":")) for log in logs]
        self._file.write("".join(line + "\n" for line in lines).encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._logs.extend(json.loads(line) for line in lines)


def read(path: Path) -> Study:
    """Open the study of a file to look at it."""
    with _quiet():
        found = _study_in(JournalStorage(Journal(path)), path)
    if found is None:
        raise ValueError(f"{path} holds no search yet")
    return found


@contextlib.contextmanager
def written(path: Path, facts: Mapping[str, Any]) -> Iterator[Study]:
    """Open the study of a file, or begin it, for one search that nobody else may join meanwhile.

    Parameters
    ----------
    path : Path
    facts : mapping
        What the study is of: kept with a new one, compared with those of an old one.

    Raises
    ------
    ValueError
        If the file holds something else.
    RuntimeError
        If another search is writing it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file, _quiet():
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RuntimeError(f"another search is writing {path}") from None
        storage = JournalStorage(Journal(path, file))
        study = _study_in(storage, path)
        if study is None:
            number = storage.create_new_study([StudyDirection.MINIMIZE], STUDY)
            for name, value in facts.items():
                storage.set_study_user_attr(number, name, value)
            study = Study(STUDY, storage)
        _check_same(study, facts, path)
        yield study


def ended(trials: Iterable[FrozenTrial]) -> list[FrozenTrial]:
    """Keep the trials that count: complete, pruned, or failed by themselves."""
    return [one for one in trials if one.state in ENDED and not is_interrupted(one)]


def is_interrupted(trial: FrozenTrial) -> bool:
    """Say whether a trial was broken off; it goes on under another number."""
    return trial.state == TrialState.FAIL and "interrupted" in trial.user_attrs


def folds_of(trial: FrozenTrial) -> dict[int, dict[str, Any]]:
    """Return what :func:`uncletc.search.work.run_fold` found, by fold, in order."""
    found = trial.user_attrs.items()
    folds = {int(name[5:]): value for name, value in found if name.startswith("fold ")}
    return dict(sorted(folds.items()))


def requeue(study: Study, space: Space, *, by_accident: bool) -> None:
    """Queue the trials that were running again, with their folds, and mark the old ones failed.

    Parameters
    ----------
    by_accident : bool
        The search or a worker died, which no trial survives more than a few times.
    """
    trials = study.get_trials(deepcopy=False)
    queued = {one.user_attrs.get("resumes") for one in trials if one.state == TrialState.WAITING}
    for one in trials:
        if one.state != TrialState.RUNNING:
            continue
        attempts = one.user_attrs.get("attempts", 0) + by_accident
        chosen = one.params or one.system_attrs.get("fixed_params", {})
        if attempts >= ATTEMPTS:
            _note(study, one, "error", f"its worker, or the whole search, ended {attempts} times")
        else:
            if set(chosen) == set(space) and one.number not in queued:
                folds = {f"fold {fold}": found for fold, found in folds_of(one).items()}
                study.enqueue_trial(
                    chosen, user_attrs={"attempts": attempts, "resumes": one.number, **folds}
                )
            _note(study, one, "interrupted", True)
        study.tell(one.number, state=TrialState.FAIL)


def _note(study: Study, trial: FrozenTrial, name: str, value: Any) -> None:
    study._storage.set_trial_user_attr(trial._trial_id, name, value)


def _parse(line: bytes, number: int, path: Path) -> dict[str, Any]:
    try:
        log = json.loads(line)
    except ValueError:
        log = None
    if not isinstance(log, dict) or "op_code" not in log:
        raise _foreign(path, number)
    return log


def _foreign(path: Path, number: int) -> ValueError:
    return ValueError(f"{path} is not the file of a search: line {number} is none of its own")


def _study_in(storage: JournalStorage, path: Path) -> Study | None:
    studies = storage.get_all_studies()
    if not studies:
        return None
    if [one.study_name for one in studies] != [STUDY]:
        raise ValueError(f"{path} holds another study of Optuna, not a search of uncletc")
    return Study(STUDY, storage)


def _check_same(study: Study, facts: Mapping[str, Any], path: Path) -> None:
    known = study.user_attrs
    for name, value in facts.items():
        plain = json.loads(json.dumps(value))
        if name not in known:  # killed while the study began, before there was a trial
            study.set_user_attr(name, plain)
        elif known[name] != plain:
            raise ValueError(
                f"{path} holds a search of another {name}, {_short(known[name])} and not "
                f"{_short(plain)}; give another file, or the same arguments"
            )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from telling what it does; callers report in their own way."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(max(before, logging.WARNING))
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
