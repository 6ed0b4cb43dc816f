"""The paper: its tables and figures rerun, and its theorem made computable."""

from uncletc.paper import tables, theory

__all__ = ["tables", "theory"]
