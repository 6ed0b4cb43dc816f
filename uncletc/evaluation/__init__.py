"""The paper's cross-validation: folds, held-out predictions and their scores.

Which folds, when: ``kind="entry"`` holds out random entries, as the paper does, and shows how well
gaps are filled; ``kind="fibre"`` holds out whole places or pairs, such as a county on all days or
an interaction in all years, and shows how well places without any counts are predicted.

In each trial one fold is for testing, the next for validation and the others for training; from
trial to trial the roles move on by one fold (paper, appendix D.3). The validation fold decides only
how many iterations to take, and how widely counts scatter; the test fold decides nothing.
Attributes of held-out entries remain known, so ŷ = λ·g(z) there; g has not seen their counts.

How widely counts scatter about ŷ is part of a prediction too. One rule holds for all methods:
:func:`likely_law`, which lets large counts scatter less in relation to their size, as real counts
do. ``log_score_one_phi`` is the log score without that.

Whether one method is better than another is asked of :func:`paired_difference`: fold by fold, so
that folds which are hard for all do not hide it.
"""

from uncletc.compare.folds import FoldKind, Split, make_folds, splits
from uncletc.compare.paired import Difference, paired_difference
from uncletc.compare.scores import (
    Scores,
    SizeLaw,
    count_interval,
    dispersion,
    likely_law,
    score,
)
from uncletc.compare.trials import LEVELS, Evaluation, Trial, evaluate, run_trial

__all__ = [
    "LEVELS",
    "Difference",
    "Evaluation",
    "FoldKind",
    "Scores",
    "SizeLaw",
    "Split",
    "Trial",
    "count_interval",
    "dispersion",
    "evaluate",
    "likely_law",
    "make_folds",
    "paired_difference",
    "run_trial",
    "score",
    "splits",
]
