"""Real tables whose detection was measured, one file each, and how near a fit comes to it.

    python -m benchmarks.truth --write benchmarks/results/truth.md

Truth never enters a fit. Each file has a `TRUTH`; see :class:`benchmarks.truth.known.Truth`.
"""
