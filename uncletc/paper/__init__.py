"""The paper's tables.

Examples
--------
>>> from uncletc import paper
>>> paper.tables.TITLES["table-1"]
'Table 1: more or fewer counts, γ_Ω'
"""

from uncletc.paper import tables

__all__ = ["tables"]
