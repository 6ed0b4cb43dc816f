"""``uncletc search``: find good settings of a method by held-out counts."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uncletc.data.counts import CountTensor
    from uncletc.search import SearchProgress, Study

_CHOICES = {
    "rank": "ranks",
    "mu": "values of μ (null: from the counts, as the joint solver does unless this is given)",
    "units": "units of each hidden layer",
    "layers": "numbers of hidden layers",
    "learning_rate": "learning rates (UncleTC with --set solver=bcd)",
    "batch_size": "batch sizes (likewise)",
    "alpha": "prior shapes (BPTF)",
    "rho": "step sizes (HaLRTC)",
}
_INTERRUPTED = 130  # exit status of a command that Ctrl+C ended


def add_command(commands: Any) -> None:
    """Add ``search`` to the subcommands of ``uncletc``.

    Parameters
    ----------
    commands : argparse subparsers
    """
    parser = commands.add_parser(
        "search",
        help="find good settings of a method",
        description="Try settings of a method and compare their mean errors on held-out counts. "
        "Every trial is kept in one file: the same command resumes where it stopped, and the "
        "dashboard can open the file at any time. Prints the best settings as JSON.",
    )
    add = parser.add_argument
    add("data", metavar="DATA", help="covid, ppi, covid-twin, ppi-twin, or an .npz file of counts")
    add("--out", type=Path, required=True, metavar="FILE", help="file of the trials")
    add("--method", default="UncleTC", help="name in uncletc.METHODS (default: UncleTC)")
    add("--trials", type=int, default=40, help="number of trials in the file (default: 40)")
    add("--jobs", type=int, help="number of fits at a time (default: 1)")
    add("--scheduler", metavar="ADDRESS", help="address of a Dask cluster to fit on")
    add(
        "--kind",
        choices=("entry", "fibre"),
        default="entry",
        help="what folds hold out: single entries, or whole fibres, such as a county on all days",
    )
    add("--folds", type=int, default=5, help="number of folds, at least 3 (default: 5)")
    add("--seed", type=int, default=0, help="seed of the folds and the choices (default: 0)")
    add(
        "--strategy",
        choices=("tpe", "random", "grid"),
        default="tpe",
        help="how to choose: learning from earlier trials (the default), at random, or in order",
    )
    add("--no-pruning", action="store_true", help="score every trial on all of its folds")
    add(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="NAME=VALUE",
        help="a fixed setting, such as solver=bcd or max_iter=100",
    )
    narrowed = parser.add_argument_group("choices that replace those of the paper")
    for name, words in _CHOICES.items():
        flag = "--" + name.replace("_", "-")
        narrowed.add_argument(
            flag, nargs="+", type=_value, metavar="VALUE", help=f"{words} to choose from"
        )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Run the search."""
    from uncletc.search import SearchSettings, Workers, search

    try:
        counts, dataset = _load(chosen.data)
        settings = SearchSettings(
            n_trials=chosen.trials,
            strategy=chosen.strategy,
            prune=not chosen.no_pruning,
            space={name: getattr(chosen, name) for name in _CHOICES if getattr(chosen, name)},
            fixed=dict(chosen.set),
            kind=chosen.kind,
            n_folds=chosen.folds,
            seed=chosen.seed,
        )
        with _bar() as move:
            study = search(
                counts,
                chosen.method,
                path=chosen.out,
                settings=settings,
                workers=Workers(jobs=chosen.jobs, scheduler=chosen.scheduler),
                dataset=dataset,
                callback=move,
            )
        _report(study)
    except (KeyboardInterrupt, ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        # Interrupted while it takes a lock, Optuna raises an error of its own.
        if KeyboardInterrupt not in (type(error), type(error.__context__)):
            raise SystemExit(f"uncletc search: {error}") from error
        _write_line(
            f"interrupted; finished trials are kept in {chosen.out}. The same command resumes."
        )
        raise SystemExit(_INTERRUPTED) from None


def _load(data: str) -> tuple[CountTensor, str]:
    from uncletc import CountTensor, datasets

    if data in datasets.NAMES:
        dataset = datasets.load(data)
        return dataset.counts, dataset.name
    path = Path(data)
    if not path.is_file():
        names = ", ".join(datasets.NAMES)
        raise FileNotFoundError(f"DATA must be one of {names}, or a file of counts; got {data!r}")
    try:
        return CountTensor.load(path), path.stem
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{data} is not a file that CountTensor.save wrote ({error})") from error


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[SearchProgress], None]]:
    """Show progress from the first fold on, so that early errors appear without an empty bar."""
    from tqdm import tqdm

    bar = None

    def move(progress: SearchProgress) -> None:
        nonlocal bar
        bar = bar or tqdm(total=progress.total, initial=progress.finished, unit="trial")
        bar.n = progress.finished
        best = "none yet" if progress.best is None else f"{progress.best:.4g}"
        fold = f"trial {progress.trial}, fold {progress.folds}"
        bar.set_postfix_str(f"best rRMSE {best}; {fold}")

    try:
        yield move
    finally:
        if bar is not None:
            bar.close()


def _report(study: Study) -> None:
    value, sd = study.best_value
    n_folds, kind = study.settings.n_folds, study.settings.kind
    _write_line(f"{study.method} on {study.dataset}, {n_folds} folds of kind {kind!r}")
    _write_line(f"validation rRMSE of the best settings: {value:.4g} ± {sd:.2g} over folds")
    for name, (mean, spread) in study.test_scores().items():
        _write_line(f"their test {name}: {mean:.4g} ± {spread:.2g}")
    _write_line(
        f"trials are in {shlex.quote(str(study.path))}; the same command resumes an interrupted"
    )
    _write_line("search, and with a larger --trials extends a finished one")
    sys.stdout.write(study.best.to_json() + "\n")


def _write_line(line: str) -> None:
    sys.stderr.write(line + "\n")


def _value(text: str) -> Any:
    """Read a number, true or false; anything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    return name, _value(value)
