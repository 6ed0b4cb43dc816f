"""``uncletc search``: find good settings of a method by held-out counts."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uncletc.data.counts import CountTensor

_CHOICES = {
    "rank": "ranks",
    "mu": "values of μ (null: estimated, as the joint solver does unless this is given)",
    "units": "units of each hidden layer",
    "layers": "numbers of hidden layers",
    "learning_rate": "learning rates (UncleTC with --set solver=bcd)",
    "batch_size": "batch sizes (likewise)",
    "alpha": "prior shapes (BPTF)",
    "rho": "step sizes (HaLRTC)",
}


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
        "Every trial is written to one file: the same command resumes where it stopped. Prints the "
        "best settings as JSON. Exit codes as of uncletc fit.",
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
    """Run the search, and write the best settings."""
    from uncletc.search import search

    counts, name = _load(chosen.data)
    try:
        found = search(
            counts,
            chosen.method,
            path=chosen.out,
            n_trials=chosen.trials,
            space={name: getattr(chosen, name) for name in _CHOICES if getattr(chosen, name)},
            fixed=dict(chosen.set),
            kind=chosen.kind,
            n_folds=chosen.folds,
            seed=chosen.seed,
            prune=not chosen.no_pruning,
            jobs=chosen.jobs,
            scheduler=chosen.scheduler,
            progress=True,
        )
    except (KeyboardInterrupt, RuntimeError) as error:
        # Interrupted while it takes a lock, Optuna raises a RuntimeError of its own.
        if KeyboardInterrupt not in (type(error), type(error.__context__)):
            raise
        raise KeyboardInterrupt(
            f"interrupted; finished trials are in {chosen.out}. The same command resumes."
        ) from None
    lines = [f"{chosen.method} on {name}, {chosen.folds} folds of kind {chosen.kind!r}"]
    scores = {"validation rRMSE of the best settings": found.validation}
    scores |= {f"their test {score}": values for score, values in found.test.items()}
    lines += [f"{words}: {mean:.4g} ± {sd:.2g} over folds" for words, (mean, sd) in scores.items()]
    lines.append(f"trials are in {shlex.quote(str(chosen.out))}; a larger --trials adds to them")
    print(*lines, sep="\n", file=sys.stderr)
    print(found.best.to_json())


def _load(data: str) -> tuple[CountTensor, str]:
    """Return the counts that the command names, and their name."""
    from uncletc import CountTensor, datasets

    if data in datasets.NAMES:
        dataset = datasets.load(data)
        return dataset.counts, dataset.name
    path = Path(data)
    if not path.is_file():
        names = ", ".join(datasets.NAMES)
        raise ValueError(f"DATA must be one of {names}, or a file of counts; got {data!r}")
    try:
        return CountTensor.load(path), path.stem
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{data} is not a file that CountTensor.save wrote ({error})") from error


def _value(text: str) -> Any:
    """Return a number, true, false or null; anything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    return name, _value(value)
