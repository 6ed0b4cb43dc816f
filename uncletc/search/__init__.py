"""Search for good settings of a method, by held-out counts.

Which one, when: :func:`search` to look for settings, or to resume an interrupted search;
:func:`open_study` to look at its trials, even while a search is writing them.

Settings are compared by the mean validation error over the folds of :mod:`uncletc.compare`.
Test folds decide nothing; their scores are shown only for the best settings. As in the paper, each
count is in the validation fold of one trial, so the best settings look slightly better than they
would on counts of another year or place.
"""

from uncletc.search.searching import search
from uncletc.search.settings import SearchProgress, SearchSettings, Strategy, Workers
from uncletc.search.study import Study, open_study

__all__ = [
    "SearchProgress",
    "SearchSettings",
    "Strategy",
    "Study",
    "Workers",
    "open_study",
    "search",
]
