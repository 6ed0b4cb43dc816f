"""How large a tensor of a table may be."""

MOST_ENTRIES = 50_000_000
"""Entries of a tensor at most, counted or not: pages draw λ of all of them."""

MOST_COUNTS = 3_000_000
"""Entries with a count at most."""
