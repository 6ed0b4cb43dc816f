"""``python -m uncletc`` is the command ``uncletc``."""

from uncletc.cli import main

main()
