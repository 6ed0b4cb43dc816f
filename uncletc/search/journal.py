"""The file of a search: Optuna's journal, one JSON object per line, with one study."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

try:
    import optuna
except ImportError as error:
    raise ImportError(
        'searching needs Optuna, which is missing; install it with: pip install "uncletc[search]"'
    ) from error
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import FrozenTrial, Trial, TrialState

try:
    import fcntl
except ImportError:  # Windows: a second search of the same file is not refused
    fcntl = None  # type: ignore[assignment]

STUDY = "uncletc search"
ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
GRACE = 3  # seconds until Optuna takes over the lock of a killed process
MISREAD = (AssertionError, AttributeError, LookupError, TypeError, ValueError)
_BEGINNING = b'{"op_code":'  # of every line


class _Lines(JournalFileBackend):
    """Optuna's file, with the number of the line read last, counted from 1."""

    line = 0

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        self.line = log_number_from + 1
        for log in super().read_logs(log_number_from):
            yield log
            self.line += 1


def read(path: Path) -> tuple[dict[str, Any], list[FrozenTrial]]:
    """Read the study of a file: its attributes, and its trials by number.

    Raises
    ------
    ValueError
        If it is not the file of a search, or holds none yet.
    """
    storage, _ = _open(path)
    if storage.get_all_studies():
        study = optuna.load_study(study_name=STUDY, storage=storage)
        if "search" in study.user_attrs:
            _check_folds(study, path)
            return study.user_attrs, study.get_trials(deepcopy=False)
    raise ValueError(f"{path} holds no search yet")


def in_memory(trials: list[FrozenTrial]) -> optuna.Study:
    """Return a study of these trials, for Optuna's own evaluations."""
    with _quiet():
        study = optuna.create_study()
    study.add_trials(trials)
    return study


@contextlib.contextmanager
def written(path: Path, facts: dict[str, Any], request: dict[str, Any]) -> Iterator[optuna.Study]:
    """Open or create the study of a file, for the exclusive use of one search.

    Parameters
    ----------
    path : Path
    facts : dict
        What makes trials comparable: kept with a new study, compared with that of an old one.
    request : dict
        What may change from one search to the next.

    Raises
    ------
    ValueError
        If the file holds something else.
    RuntimeError
        If another search is writing to it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file, _quiet():
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RuntimeError(f"another search is writing to {path}") from None
        storage, size = _open(path)
        os.truncate(path, size)
        if not storage.get_all_studies():
            optuna.create_study(storage=storage, study_name=STUDY)
        study = optuna.load_study(study_name=STUDY, storage=storage)
        _check_folds(study, path)
        existing = study.user_attrs.get("search")
        for name, value in json.loads(json.dumps(facts)).items():
            if existing is not None and existing.get(name) != value:
                raise ValueError(
                    f"{path} holds a search with another {name}, {_short(existing.get(name))} and "
                    f"not {_short(value)}; give another file, or the same arguments"
                )
        study.set_user_attr("asked", request)
        if existing is None:
            study.set_user_attr("search", facts)
        yield study


def folds_of(trial: FrozenTrial | Trial) -> dict[int, dict[str, Any]]:
    """Return what :func:`uncletc.search.work.run_fold` returned for a trial, by fold, in order."""
    attributes = trial.user_attrs.items()
    folds = {int(name[5:]): value for name, value in attributes if name.startswith("fold ")}
    return dict(sorted(folds.items()))


def word_for(state: TrialState) -> str:
    """Return "complete", "pruned", "failed" or "running"."""
    return "failed" if state == TrialState.FAIL else state.name.lower()


def unreadable(path: Path, where: str, error: Exception) -> ValueError:
    """Return an error that names the part of a file that caused one of :data:`MISREAD`."""
    fault = f"lacks the field {error}" if isinstance(error, KeyError) else "cannot be read"
    return ValueError(f"{path} is not the file of a search: {where} {fault}")


def _open(path: Path) -> tuple[JournalStorage, int]:
    """Read a whole file; return its storage, and the number of bytes of its complete lines."""
    data = path.read_bytes()
    size = data.rfind(b"\n") + 1
    lines = _Lines(str(path), JournalFileOpenLock(str(path), grace_period=GRACE))
    try:
        storage = JournalStorage(lines)
        cut = data[size:]
        if lines.line <= data.count(b"\n") or not cut.startswith(_BEGINNING[: len(cut)]):
            raise ValueError
    except MISREAD as error:
        raise unreadable(path, f"line {lines.line}", error) from error
    if [study.study_name for study in storage.get_all_studies()] not in ([], [STUDY]):
        raise ValueError(f"{path} holds another study of Optuna, not a search of uncletc")
    return storage, size


def _check_folds(study: optuna.Study, path: Path) -> None:
    for trial in study.get_trials(deepcopy=False):
        try:
            for fold in folds_of(trial).values():
                if "error" not in fold:
                    float(fold["validation"]["rrmse"]), dict(fold["test"]), float(fold["seconds"])
        except MISREAD as error:
            raise unreadable(path, f"trial {trial.number}", error) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence Optuna's log; callers report in their own way."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(verbosity)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
