"""A folder -> those below it that hold a file of some name, such as runs."""

import os
import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

# How deep, how many folders, entries of each, and seconds.
_DEEPEST, _MOST_FOLDERS, _MOST_ENTRIES, _LONGEST = 5, 3000, 5000, 2.0
# Folders that are passed over by their own name, or with those that hold one of some files.
_OTHERS, _NONE = {"node_modules", "site-packages", "__pycache__"}, {"pyvenv.cfg", "__init__.py"}


def walk(folder: Path, names: Collection[str]) -> Iterator[Path]:
    """Find the folders below one that hold a file of some names, those near to it first.

    A big tree is walked in part, and that of a whole disk not at all.
    """
    queue, end = deque([(os.path.abspath(folder), 0)]), time.monotonic() + _LONGEST
    for _ in range(_MOST_FOLDERS * (folder != folder.parent)):
        if not queue or time.monotonic() > end:
            return
        path, depth = queue.popleft()
        with suppress(OSError), os.scandir(path) as entries:
            there = {each.name: each for each in islice(entries, _MOST_ENTRIES)}
            if not there.keys().isdisjoint(names):
                yield Path(path)
            elif depth < _DEEPEST and not there.keys() & _NONE:
                queue += [
                    (each.path, depth + 1)
                    for name, each in sorted(there.items())
                    if name[0] != "." and name not in _OTHERS and each.is_dir(follow_symlinks=False)
                ]
