"""The paper's cross-validation: folds, held-out predictions and their scores.

Which folds, when: ``kind="entry"`` hides random entries, as the paper does, and asks how well gaps
are filled; ``kind="fibre"`` hides whole places or pairs at once, such as a county on all days or an
interaction in all years, and asks what can be said where nothing was counted.

In each trial one fold is for testing, the next for validation, the others for training, and the
roles move on by one (paper, appendix D.3). Counts of the validation fold decide only how many
iterations to take; those of the test fold decide nothing. Attributes of held-out entries remain, so
ŷ = λ·g(z) there; g has not seen their counts.
"""

from uncletc.evaluation.folds import FoldKind, Split, make_folds, splits
from uncletc.evaluation.scores import Scores, count_interval, dispersion, score
from uncletc.evaluation.trials import LEVELS, Evaluation, Trial, evaluate, run_trial

__all__ = [
    "LEVELS",
    "Evaluation",
    "FoldKind",
    "Scores",
    "Split",
    "Trial",
    "count_interval",
    "dispersion",
    "evaluate",
    "make_folds",
    "run_trial",
    "score",
    "splits",
]
