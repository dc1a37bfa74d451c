"""The commands that hints name are run as they stand: the text that they leave is the right one."""

import subprocess
from pathlib import Path

import pytest

from xmine.errors import FileError
from xmine.files.reading import read_lines

pytestmark = pytest.mark.process
GERMAN = "Die Fähre fährt mittags über den Fluss.\nÖl.\n" * 9
CHINESE = "渡轮中午开船，他说。\n“好”，猫上山。\n" * 9


@pytest.mark.parametrize(
    ("data", "command", "text"),
    [
        (CHINESE.encode("gb18030"), "iconv -f", CHINESE),
        (GERMAN.encode("cp1252"), "iconv -f", GERMAN),
        (GERMAN.encode("utf-16"), "iconv -f", GERMAN),
        (CHINESE.encode("utf-32"), "iconv -f", CHINESE),
        (CHINESE.encode("utf-16-le"), "iconv -f", CHINESE),
        (GERMAN.replace(" ", "\0 ").encode(), "tr -d", GERMAN),
        (GERMAN.encode() + b"\xff\xfe\n", "iconv -c", GERMAN + "\n"),
        (CHINESE.encode() + "中".encode()[:-1], "iconv -c", CHINESE),  # cut inside a character
    ],
)
def test_what_the_hint_says_gives_the_text(
    tmp_path: Path, data: bytes, command: str, text: str
) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(FileError) as error:
        read_lines(tmp_path / "f")
    said = error.value.hint[error.value.hint.index(command) :]
    said = said.partition(" (or ")[0].partition("; or ")[0]
    subprocess.run(said, shell=True, check=False, cwd=tmp_path)
    assert read_lines(tmp_path / said.rpartition("> ")[2]) == text.removesuffix("\n").split("\n")
