"""Block coordinate descent, the paper's algorithm."""
