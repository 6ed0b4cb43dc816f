"""A report of a fit as one HTML file, which needs nothing beside it."""

from uncletc.report.page import headline, held_out_words, report

__all__ = ["headline", "held_out_words", "report"]
