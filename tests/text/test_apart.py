"""A program for the bytes of a file: what it writes is taken while it holds to its limits."""

import sys

import pytest

from xmine.errors import FileError
from xmine.text.formats import units
from xmine.text.formats.apart import made_of

pytestmark = pytest.mark.process
DOES = {
    "import sys; sys.exit('[INFO] a\\x1b\\nb\\x1bc')": "cannot be read as RST: bc",
    "import os; os.abort()": "cannot be read as RST: its reader ended",
    "while True: pass": "3 bytes gave more than 264 characters, or took 1 seconds",
    "while True: print('a' * 99)": "3 bytes gave more than 264 characters",
}


@pytest.mark.parametrize(("does", "told"), DOES.items())
def test_a_program_is_ended_where_it_passes_a_limit(
    monkeypatch: pytest.MonkeyPatch, does: str, told: str
) -> None:
    monkeypatch.setattr(units, "_TEXT", 72)
    monkeypatch.setattr(units, "_SECONDS", 0.5)
    with pytest.raises(FileError, match=f"a.rst: {told}"):
        made_of(b"abc", "a.rst", "rst", sys.executable, "-c", does)
