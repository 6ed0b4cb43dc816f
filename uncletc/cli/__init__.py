"""The command ``uncletc``."""

from uncletc.cli.main import main

__all__ = ["main"]
