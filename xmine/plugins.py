"""What other packages add to xmine, by entry points: formats, flags and encoders.

The packages are looked through when a name is none of ours, which takes 0.05 s.
"""

from functools import lru_cache
from typing import Any

from xmine.errors import XmineError


@lru_cache
def _entries(group: str) -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {each.name: each for each in entry_points(group=f"xmine.{group}")}


def plugin_names(group: str) -> list[str]:
    """Name what packages add to a group: `formats`, `flags` or `encoders`."""
    return sorted(_entries(group))


def plugin(group: str, name: str) -> Any:  # noqa: ANN401 - whatever the package has there
    """Load what a package adds under a name; None where none does.

    Raises:
        XmineError: it cannot be loaded; the message names the package.
    """
    if not (entry := _entries(group).get(name)):
        return None
    try:
        return entry.load()
    except Exception as error:
        raise broken(group, name, error) from error


def broken(group: str, name: str, error: object) -> XmineError:
    """Make the error of a plugin that fails; name its package."""
    package = _entries(group)[name].dist.name
    what = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
    told = f"{group[:-1]} {name!r} of the package {package}: {what}"
    return XmineError(told, f"tell who wrote it, or remove it: pip uninstall {package}")
