"""Cross-validation as in the paper, scores of held-out counts, and comparisons of them.

Which folds, when: ``kind="entry"`` holds out random entries, as the paper does, and shows how well
gaps are filled; ``kind="fibre"`` holds out whole places or pairs, such as a county on all days or
an interaction in all years, and shows how well places without any counts are predicted.

In each trial one fold is for testing, the next for validation and the others for training; from
trial to trial the roles move on by one fold (paper, appendix D.3). The validation fold decides only
how many iterations to take, and how widely counts scatter; the test fold decides nothing.
Attributes of held-out entries remain known, so ŷ = λ·g(z) there; g has not seen their counts.
Further observation processes of held-out entries remain, too. UncleTC alone reads them: to compare
methods on the same counts, leave them out with ``counts.with_observations()``.

How widely counts scatter about ŷ is part of a prediction too. One rule holds for all methods:
:func:`likely_law`, which lets large counts scatter less in relation to their size, as real counts
do. ``log_score_one_phi`` is the log score without that.

Whether one method is better than another: :meth:`Difference.of` compares it fold by fold,
:func:`difference` entry by entry, with a standard error over groups of entries such as places.

Examples
--------
>>> from uncletc import METHODS, compare, simulate
>>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
>>> method = METHODS["Main effects"]
>>> found = compare.evaluate(y, method, method.settings(), n_folds=3)  # an Evaluation
>>> len(found.trials)
3

Step by step:

>>> split = compare.splits(compare.make_folds(y, 3))[0]  # a Split
>>> trial = compare.run_trial(y, method, method.settings(), split, None, None)  # a Trial
>>> trial.test.n == int(split.test.sum())
True
>>> seen = y.counts[:100]
>>> expected = seen + 0.5
>>> law = compare.likely_law(seen, expected)  # a SizeLaw
>>> low, high = compare.count_interval(expected, 0.9, law)
>>> bool((low <= high).all()), compare.dispersion(seen, expected) >= 0
(True, True)
>>> compare.score(seen, expected, law=law).n  # Scores
100
"""

from uncletc.compare import metrics
from uncletc.compare.crossvalidation import (
    Evaluation,
    FoldKind,
    Split,
    Trial,
    evaluate,
    make_folds,
    run_trial,
    splits,
)
from uncletc.compare.scores import Difference, Scores, count_interval, difference, score
from uncletc.model.negbin import SizeLaw, dispersion, likely_law

__all__ = [
    "Difference",
    "Evaluation",
    "FoldKind",
    "Scores",
    "SizeLaw",
    "Split",
    "Trial",
    "count_interval",
    "difference",
    "dispersion",
    "evaluate",
    "likely_law",
    "make_folds",
    "metrics",
    "run_trial",
    "score",
    "splits",
]
