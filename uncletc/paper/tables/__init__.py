"""The paper's tables, figures and real-data comparison, rerun and set beside its own numbers.

``TABLES`` defines what each holds, ``run_cell`` runs one trial of one cell, ``run_tables`` runs all
of them, and ``committed`` reads the results shipped with the project. The command is
``uncletc tables``.
"""

from uncletc.paper.tables.cells import ITERATIONS, errors, run_cell, settings_for
from uncletc.paper.tables.definitions import (
    FIGURES,
    KNOWN,
    PAPERS_OWN,
    READINGS,
    TABLES,
    Column,
    Reading,
    Table,
    settings_of,
)
from uncletc.paper.tables.real import run_real
from uncletc.paper.tables.report import write_report
from uncletc.paper.tables.results import committed, summarise, summarise_curves, summarise_real
from uncletc.paper.tables.runner import run_tables

__all__ = [
    "FIGURES",
    "ITERATIONS",
    "KNOWN",
    "PAPERS_OWN",
    "READINGS",
    "TABLES",
    "Column",
    "Reading",
    "Table",
    "committed",
    "errors",
    "run_cell",
    "run_real",
    "run_tables",
    "settings_for",
    "settings_of",
    "summarise",
    "summarise_curves",
    "summarise_real",
    "write_report",
]
