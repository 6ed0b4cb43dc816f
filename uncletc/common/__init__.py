"""What every room uses: validation, files of arrays and of settings, the version of results."""

import os
from pathlib import Path
from tempfile import mkdtemp

import platformdirs

RESULTS = 46
"""Raised whenever fits or scores change; cached ones of another version are not shown."""


def _writable(folder: Path) -> bool:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return os.access(there, os.W_OK)


# Numba, which keeps what it compiled in one of these folders, raises an error where it can do so
# in neither.
_CACHES = (Path(__file__).parents[1], platformdirs.user_cache_path("numba"))
if not any(map(_writable, _CACHES)):
    os.environ.setdefault("NUMBA_CACHE_DIR", mkdtemp(prefix="uncletc-"))
