"""A report of a fit as one HTML file, which needs nothing beside it."""

from uncletc.report.page import report
from uncletc.report.words import headline, held_out_words

__all__ = ["headline", "held_out_words", "report"]
