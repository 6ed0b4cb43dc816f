"""Search for good settings of a method, by held-out counts.

Which one, when: :func:`search` to look for settings, or to resume an interrupted search;
:func:`open_study` to look at its trials, even while a search is writing them.

Settings are judged by the mean validation error over the folds of :mod:`uncletc.evaluation`. No
test fold decides anything: its counts are scored, but only those of the best settings are shown.
Each count does validate in one of the rotating folds, as in the paper, so the best settings look a
little better than they would on counts of another year or place.
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
