"""The command ``uncletc``."""

from uncletc.cli.command import main

__all__ = ["main"]
