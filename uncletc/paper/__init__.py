"""The paper's tables."""

from uncletc.paper import tables

__all__ = ["tables"]
