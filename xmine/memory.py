"""How much memory this process holds, and how much it may still take."""

import re
from pathlib import Path

from xmine.options import bytes_of


def anonymous_memory() -> int:
    """Measure the bytes of this process that no file backs; 0 where the system does not tell."""
    return _field(Path("/proc/self/status"), "RssAnon")


def free_memory() -> int | None:
    """Find how many bytes can be taken without swapping; None where the system does not tell.

    A limit of the control group, as containers have it, counts as well.
    """
    free = _field(Path("/proc/meminfo"), "MemAvailable") or None
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            most, held = ((_GROUP / each).read_text().strip() for each in (limit, used))
        except OSError:
            continue
        if most.isdecimal() and held.isdecimal():
            left = max(int(most) - int(held), 0)
            free = left if free is None else min(free, left)
    return free


def memory_limit(max_memory: str) -> int | None:
    """Give the bytes that may be used: what is asked for, or three quarters of what is free."""
    free = free_memory()
    return bytes_of(max_memory) or (None if free is None else anonymous_memory() + 3 * free // 4)


_GROUP = Path("/sys/fs/cgroup")


def _field(path: Path, name: str) -> int:
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
