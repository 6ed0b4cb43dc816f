"""``uncletc search``: look for good settings of a method, by held-out counts."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uncletc.counts import CountTensor
    from uncletc.search import SearchProgress, Study

_CHOICES = {
    "rank": "ranks",
    "mu": "values of μ",
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
        help="look for good settings of a method",
        description="Try settings of a method and judge them by their mean error on held-out "
        "counts. Every trial is kept in one file: the same command goes on where it ended, and the "
        "dashboard can open the file at any time. Prints the best settings as JSON.",
    )
    parser.add_argument(
        "data", metavar="DATA", help="covid, ppi, covid-twin, ppi-twin, or an .npz file of counts"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="file to keep the trials in"
    )
    parser.add_argument(
        "--method", default="UncleTC", help="name in uncletc.METHODS (default: UncleTC)"
    )
    parser.add_argument(
        "--trials", type=_positive, default=40, help="in the whole file (default: 40)"
    )
    parser.add_argument("--jobs", type=_positive, help="fits at a time (default: 1)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster that does the work"
    )
    parser.add_argument(
        "--kind",
        choices=("entry", "fibre"),
        default="entry",
        help="what folds hide: single entries, or whole fibres, such as a county on all days",
    )
    parser.add_argument("--folds", type=int, default=5, help="3 at least (default: 5)")
    parser.add_argument(
        "--seed", type=int, default=0, help="of the folds, and of what is tried (default: 0)"
    )
    parser.add_argument(
        "--strategy",
        choices=("tpe", "random", "grid"),
        default="tpe",
        help="how to choose: learning from earlier trials (the default), at random, or in order",
    )
    parser.add_argument(
        "--no-pruning", action="store_true", help="judge every trial on all of its folds"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_assignment,
        metavar="NAME=VALUE",
        help="a setting that stays, such as solver=bcd or max_iter=100",
    )
    narrowed = parser.add_argument_group("choices, instead of those of the paper")
    for name, words in _CHOICES.items():
        narrowed.add_argument(
            _flag(name), nargs="+", type=_value, metavar="VALUE", help=f"{words} to choose from"
        )
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> None:
    """Do what the command line asks."""
    from uncletc.search import search
    from uncletc.search.work import need

    try:
        counts, name = _load(chosen.data)
        space = {one: getattr(chosen, one) for one in _CHOICES if getattr(chosen, one) is not None}
        with _Bar(need("tqdm").tqdm) as bar:
            study = search(
                counts,
                chosen.method,
                path=chosen.out,
                n_trials=chosen.trials,
                jobs=chosen.jobs,
                scheduler=chosen.scheduler,
                kind=chosen.kind,
                n_folds=chosen.folds,
                seed=chosen.seed,
                space=space,
                fixed=dict(chosen.set),
                strategy=chosen.strategy,
                prune=not chosen.no_pruning,
                dataset=name,
                callback=bar.move,
            )
        _report(study)
    except KeyboardInterrupt:
        _say(f"interrupted; ended trials are kept in {chosen.out}. The same command goes on.")
        raise SystemExit(_INTERRUPTED) from None
    except (ImportError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise SystemExit(f"uncletc search: {error}") from error


def _load(data: str) -> tuple[CountTensor, str]:
    from uncletc import CountTensor, datasets

    if data in datasets.NAMES:
        found = datasets.load(data)
        return found.counts, found.name
    path = Path(data)
    if not path.is_file():
        names = ", ".join(datasets.NAMES)
        raise FileNotFoundError(f"DATA must be one of {names}, or a file of counts; got {data!r}")
    try:
        return CountTensor.load(path), path.stem
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{data} is not a file that CountTensor.save wrote ({error})") from error


class _Bar:
    """A progress bar that appears with the first fold, so that no error stands beside an empty one.

    Parameters
    ----------
    tqdm : type
    """

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def move(self, record: SearchProgress) -> None:
        """Show how far the search is."""
        if self._bar is None:
            total, done = record.total, record.finished
            self._bar = self._tqdm(total=total, initial=done, unit="trial", file=sys.stderr)
        self._bar.n = record.finished
        best = "none yet" if record.best is None else f"{record.best:.4g}"
        self._bar.set_postfix_str(f"best rRMSE {best}; trial {record.trial}, fold {record.folds}")


def _report(study: Study) -> None:
    value, sd = study.best_value
    _say(f"{study.method} on {study.dataset}, {study.n_folds} folds of kind {study.kind!r}")
    _say(f"validation rRMSE of the best settings: {value:.4g} ± {sd:.2g} over folds")
    for name, (mean, spread) in study.test_scores().items():
        _say(f"their test {name}: {mean:.4g} ± {spread:.2g}")
    _say(f"trials are in {shlex.quote(str(study.path))}; the same command with more --trials")
    _say("goes on from there, and after an interruption the same command does")
    sys.stdout.write(study.best.to_json() + "\n")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


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


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)
