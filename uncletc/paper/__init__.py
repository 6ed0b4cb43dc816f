"""The paper: its tables and figures run anew, and its theorem made computable."""

from uncletc.paper import tables, theory

__all__ = ["tables", "theory"]
