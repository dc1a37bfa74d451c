"""A Moses pair in a .zip, as OPUS gives it: two files named alike but for the language."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from xmine.errors import FileError
from xmine.files.reading import decode, name_of
from xmine.pairs.language_choice import places_of
from xmine.pairs.losses import Losses
from xmine.pairs.moses import aligned
from xmine.pairs.pair import Languages, Pair
from xmine.text.formats.units import unzipping
from xmine.text.languages import is_code

_LONGEST = 1 << 24  # bytes of a line; an archive of one endless line is a bomb


def languages(path: str | Path) -> Languages | None:
    """Read the languages of the two files."""
    return _sides(path)[1]


def read(
    path: str | Path, chosen: Languages | None = None, losses: Losses | None = None
) -> Iterator[Pair]:
    """Read line by line; of more than two files, or to turn them, `chosen` names two languages."""
    names, _ = _sides(path, chosen)
    wheres = [f"{name_of(path)}: {each}" for each in names]
    with (
        unzipping(path),
        zipfile.ZipFile(path) as archive,
        archive.open(names[0]) as left,
        archive.open(names[1]) as right,
    ):
        sides = _lines(left, wheres[0]), _lines(right, wheres[1])
        yield from aligned(sides, (wheres[0], wheres[1]))


def _lines(stream: IO[bytes], name: str) -> Iterator[str]:
    number = 0
    while line := stream.readline(_LONGEST):
        if len(line) > _LONGEST // 2 and not line.endswith(b"\n"):  # it may read less at once
            raise FileError(f"{name}:{number + 1}: a line of {_LONGEST:,} bytes", "give sentences")
        yield decode(line, name, number).rstrip("\r\n")
        number += 1


def _sides(path: str | Path, chosen: Languages | None = None) -> tuple[list[str], Languages]:
    """Name the files of the two sides and their languages, in the order of `en-de` in a name."""
    name = name_of(path)
    with unzipping(path), zipfile.ZipFile(path) as archive:
        inside = archive.namelist()
    alike: dict[str, list[str]] = {}
    for each in inside:
        stem, _, code = each.rpartition(".")
        if stem and is_code(code):
            alike.setdefault(stem, []).append(code)
    for stem, codes in alike.items():
        order = chosen or (codes[::-1] if stem.endswith("-".join(codes[::-1])) else codes)
        found = [at for code in order for at in places_of(code, codes)]
        if len(found) == 2 and (chosen or len(codes) == 2):
            one, two = (codes[at] for at in found)
            return [f"{stem}.{one}", f"{stem}.{two}"], (one, two)
    wanted = "en and .de" if chosen is None else " and .".join(chosen)
    raise FileError(
        f"{name}: no two files in it that are named alike but for a language, .{wanted}",
        "give an archive of OPUS in Moses format, or unpack this one",
    )
