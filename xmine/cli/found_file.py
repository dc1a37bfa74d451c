"""A file of options that nobody named: which one is found, and what its options may do.

It may be a stranger's, with texts that were downloaded. found_options.toml says which options count
after `xmine trust` alone, which keeps the digest of a file in the user's folder of settings.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path

from xmine.errors import OptionError
from xmine.files.portable import is_ours
from xmine.options import load_toml

FILES = "xmine.toml", "pyproject.toml"  # the second may hold the first, as this table
TABLE = "tool.xmine"
_SIGNS = frozenset("@*?[{~\0")  # of names that lead to files that the name does not tell


def nearest_file(
    start: Path | None = None, passed: Callable[[Path], object] = lambda _: None
) -> Path | None:
    """Find the file of a folder (without one: of this), or of one above, that none but we wrote.

    The way up ends at the top of a repository, at the home folder, and where others may write;
    `passed` is told of a file there.
    """
    with suppress(OSError):  # this folder may be gone
        start = (start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            for path in (folder / name for name in FILES):
                with suppress(OSError):
                    own = path.name == FILES[0]
                    if path.is_file() and (own or TABLE.encode() in path.read_bytes()):
                        found = Path(os.path.relpath(path))
                        if is_ours(folder) and is_ours(path):
                            return found
                        passed(found)
                        return None
            if not is_ours(folder) or (folder / ".git").exists() or folder == Path.home():
                break
    return None


def check_found(path: Path, place: str, command: str, name: str, value: object) -> None:
    """Refuse an option that counts after `xmine trust` alone; its paths are as found from here."""
    kind = kind_of(command, name)
    is_harmless = kind == "free" or (kind == "read" and not _leads_out(value, path.parent))
    if not is_harmless and not mark_of(path).is_file():
        may_not = f"{kind}{' outside of its folder' * (kind == 'read')}"
        raise OptionError(
            f"{place}: {said(name, value)}: a file that nobody named may not {may_not}",
            f"if you know what it does: xmine trust; or, this once: --options {path}",
        )


def said(name: str, value: object) -> str:
    """Write an option as a file does."""
    return f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}"


def mark_of(path: Path) -> Path:
    """Name the file that is there once a file, of this place and content, is trusted."""
    from platformdirs import user_config_dir  # 0.02 s

    place = os.path.join(os.path.realpath(path.parent), path.name)
    made_of = hashlib.sha256(os.fsencode(place) + b"\0" + path.read_bytes())
    return Path(user_config_dir("xmine", appauthor=False), "trusted", made_of.hexdigest())


@lru_cache
def kinds() -> dict[str, str]:
    """Read what options may do: NAME, or COMMAND.NAME, and the name of its table."""
    tables = load_toml(Path(__file__).with_name("found_options.toml"))
    return {name: kind for kind, names in tables.items() for name in names.split()}


def kind_of(command: str, name: str) -> str:
    """Tell what an option may do; what nobody has said may write."""
    return kinds().get(f"{command}.{name}") or kinds().get(name, "write")


def _leads_out(value: object, folder: Path) -> bool:
    """Tell whether a value, or a link below it, leads out of a folder, or might."""
    if isinstance(value, list):
        return any(_leads_out(each, folder) for each in value)
    parts = [each.strip() for each in str(value).split(",")]  # a file for each language
    # Behind a colon stands a column.
    names = [each[: sign.start()] for each in parts for sign in re.finditer(":|$", each)]
    if any(_SIGNS & set(each) for each in names) or "hf:/" in str(value):  # a hub
        return True
    below = (
        os.path.join(at, x) for name in names for at, *two in os.walk(name) for x in chain(*two)
    )
    top, every = os.path.realpath(folder), map(os.path.realpath, chain(names, below))
    return not all(Path(each).is_relative_to(top) for each in every)
