"""``python -m uncletc.cli``, for where the command ``uncletc`` is not on the path."""

from uncletc.cli.command import main

main()
