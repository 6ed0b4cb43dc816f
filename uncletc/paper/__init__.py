"""The paper: its tables as data with single trials of them, and its theorem made computable."""

from uncletc.paper import tables, theory

__all__ = ["tables", "theory"]
