"""Search for good settings of a method, by held-out counts.

Which one, when: :func:`search` to look for settings, or to go on after an interruption;
:func:`open_study` to look at what was found, also while a search is still writing the file.

Settings are judged by the mean validation error over the folds of :mod:`uncletc.evaluation`. No
test fold decides anything: its counts are scored, but only those of the best settings are shown.
Each count does validate in one of the rotating folds, as in the paper, so the best settings look a
little better than they would on counts of another year or place.
"""

from uncletc.search.searching import SearchProgress, Strategy, search
from uncletc.search.study import Study, open_study

__all__ = ["SearchProgress", "Strategy", "Study", "open_study", "search"]
