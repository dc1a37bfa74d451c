"""A file of options that nobody named: which one is found, and what its options may do.

It may be a stranger's, with texts that were downloaded. found_options.toml says which options count
after `xmine trust` alone, which keeps the digest of a file in the user's folder of settings.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from xmine.errors import OptionError
from xmine.files.atomic import writing
from xmine.files.portable import is_ours
from xmine.options import load_toml

FILES = "xmine.toml", "pyproject.toml"  # the second may hold the first, as this table
TABLE = "tool.xmine"
WRITES = "writes"
_MAY_NOT = {  # of the tables of found_options.toml
    WRITES: "write",
    "connects": "connect or serve",
    "loads": "name an encoder or code",
    "reads": "read outside of its folder",
}
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
    """Refuse an option of a found file that may do more than a stranger should.

    Args:
        path: the file.
        place: FILE:LINE of the option.
        command: the last word of the command.
        name, value: the option; paths as they are found from here.

    Raises:
        OptionError: the option counts after `xmine trust` alone.
    """
    kind = _kind(command, name)
    is_harmless = kind == "free" or (kind == "reads" and not _leads_out(value, path.parent))
    if not is_harmless and not _mark(path).is_file():
        raise OptionError(
            f"{place}: {said(name, value)}: a file that nobody named may not {_MAY_NOT[kind]}",
            f"if you know what it does: xmine trust; or, this once: --options {path}",
        )


def writes(command: str, name: str) -> bool:
    """Tell whether an option makes a command write where the option says."""
    return _kind(command, name) == WRITES


def said(name: str, value: object) -> str:
    """Write an option as a file does."""
    return f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}"


def doubtful(table: Mapping[str, Any], command: str = "") -> Iterator[str]:
    """Name what the tables of a file say that counts after `xmine trust` alone."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from doubtful(value, name)
        elif _kind(command, name.replace("-", "_")) not in ("free", "reads"):
            yield said(name, value)


def trust(path: Path) -> None:
    """Remember a file as it is now.

    Raises:
        FileError: the user's folder of settings cannot be written.
    """
    mark = _mark(path)
    with writing(mark):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_bytes(os.fsencode(path.absolute()) + b"\n")  # for who looks what is trusted


def _mark(path: Path) -> Path:
    """Name the file that is there once a file, of this place and content, is trusted."""
    from platformdirs import user_config_dir  # 0.02 s

    place = os.path.join(os.path.realpath(path.parent), path.name)
    made_of = hashlib.sha256(os.fsencode(place) + b"\0" + path.read_bytes())
    return Path(user_config_dir("xmine", appauthor=False), "trusted", made_of.hexdigest())


@lru_cache
def _kinds() -> Mapping[str, str]:
    tables = load_toml(Path(__file__).with_name("found_options.toml"))
    return {name: kind for kind, names in tables.items() for name in names.split()}


def _kind(command: str, name: str) -> str:
    """Tell what an option may do; what nobody has said may be anything."""
    return _kinds().get(f"{command}.{name}") or _kinds().get(name, WRITES)


def _leads_out(value: object, folder: Path) -> bool:
    """Tell whether a value, or a link below it, leads out of a folder, or might."""
    if isinstance(value, list):
        return any(_leads_out(each, folder) for each in value)
    if not isinstance(value, str):
        return False
    parts = [each.strip() for each in value.split(",")]  # a file for each language
    if any(_SIGNS & set(each) for each in parts):
        return True
    # Behind a colon stands a column.
    names = [each[: sign.start()] for each in parts for sign in re.finditer(":|$", each)]
    below = (
        os.path.join(at, x) for name in names for at, *two in os.walk(name) for x in chain(*two)
    )
    top = os.path.realpath(folder)
    every = (Path(os.path.realpath(each)) for each in chain(names, below))
    return not all(each.is_relative_to(top) for each in every)
