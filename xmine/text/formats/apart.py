"""The bytes of a file -> what a program makes of them, in a process of its own, under limits.

A library in another language can take all time and memory, or end the process that calls it.
"""

import json
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from threading import Timer
from typing import Any

from xmine.errors import FileError
from xmine.files.digests import Identity, identity
from xmine.files.reading import limited, name_of, read_blocks
from xmine.text.formats.units import most_of

_AGAIN = "copy it again, or save it in its program: a text as .docx, a table as .csv"


def rows_of(path: str, kind: str, *wanted: str) -> Iterator[Any]:
    """Give what `apart_reader` reads out of a file of a kind."""
    yield from map(json.loads, _read(path, identity(path), kind, *wanted).splitlines())


@lru_cache(maxsize=2)  # sides: a table is read to count its rows, and for each of its columns
def _read(path: str, _: Identity, kind: str, *wanted: str) -> bytes:
    data = limited(path, read_blocks(path, kind=kind))
    reader = Path(__file__).with_name("apart_reader.py")
    return made_of(data, name_of(path), kind, sys.executable, "-P", reader, kind, *wanted)[0]


def made_of(data: bytes, name: str, kind: str, *command: str | Path) -> tuple[bytes, list[str]]:
    """Run a program with the bytes as its input, for twice the seconds that a reader may take.

    Returns:
        what it writes, and the lines of its notes.

    Raises:
        FileError: it fails, takes too long, or writes more than a file of that size can hold.
    """
    characters, seconds = most_of(len(data))
    with TemporaryFile() as given, TemporaryFile() as told:
        given.write(data)
        given.seek(0)
        with Popen(command, stdin=given, stdout=PIPE, stderr=told) as process:
            watch = Timer(2 * seconds, process.kill)
            watch.daemon = True
            watch.start()
            made = process.stdout.read(max(0, characters) + 1) if process.stdout else b""
            if len(made) > characters:
                process.kill()
            process.wait()
            is_over = len(made) > characters or not watch.is_alive()
            watch.cancel()
        told.seek(0)
        notes = told.read(1 << 20).decode("utf-8", "replace").splitlines()
    if is_over:
        cost = f"more than {characters:,} characters, or took {2 * seconds:.0f} seconds"
        hint = "open it in its program, and save its texts as plain text"
        raise FileError(f"{name}: {len(data):,} bytes gave {cost}", hint)
    if process.returncode:
        why = next((note for note in notes if note[:1] not in ("", "[")), "its reader ended")[:200]
        what = f"cannot be read as {kind.upper()}: {''.join(filter(str.isprintable, why))}"
        raise FileError(f"{name}: {what}", _AGAIN)
    return made, notes
