"""The commands that hints name are run as they stand: the text that they leave is the right one."""

import random
import subprocess
from pathlib import Path

import pytest

from xmine.errors import FileError
from xmine.files.reading import read_lines

pytestmark = pytest.mark.process
WORDS = {
    "Chinese": ["渡轮中午开船", "，他说", "上山", "一", "“好”", "猫", "高汤喝了一半", "。"],
    "Japanese": ["渡し船は", "正午に", "出ます", "。", "彼女は", "図書館の裏で", "蜂を", "飼う"],
    "Russian": ["Паром ", "отходит ", "в ", "полдень. ", "Пчёлы ", "за ", "библиотекой. "],
    "German": ["Die ", "Fähre ", "fährt ", "über ", "den ", "Fluss ", "mittags. ", "Öl "],
    "English": ["The ", "ferry ", "leaves ", "at ", "noon", "’s ", "end 😀 ", "– "],
}
ENCODINGS = {
    "Chinese": ["gb18030", "utf-16-be", "utf-32-le"],
    "Russian": ["utf-16-le", "utf-32-be"],
    "German": ["cp1252", "utf-16", "utf-16-le"],
    "English": ["utf-16-be", "utf-32", "cp1252"],
}


def lines_of(language: str) -> list[str]:
    draw = random.Random(4)
    return ["".join(draw.choices(WORDS[language], k=8)).strip() for _ in range(20)]


def followed(data: bytes, file: Path) -> tuple[list[str], str]:
    """Read a file after its hint was followed; and the hint."""
    file.write_bytes(data)
    with pytest.raises(FileError) as error:
        read_lines(file)
    hint = error.value.hint or ""
    command = next(hint[hint.index(name) :] for name in ("iconv", "tr ", "head ") if name in hint)
    command = command.partition(" (or")[0]
    made = file.parent / command.rpartition("> ")[2]
    ended = subprocess.run(command, shell=True, check=False, cwd=file.parent)
    assert ended.returncode == ("iconv -c" in command)
    return read_lines(made), hint


@pytest.mark.parametrize("language", WORDS)
def test_the_hint_on_a_file_that_is_cut_inside_a_character_keeps_the_rest(
    tmp_path: Path, language: str
) -> None:
    lines = lines_of(language)
    for text in ("\n".join([*lines, "é"]), "\n".join([*lines, "fin 中"]), " ".join([*lines, "😀"])):
        data = text.encode()[:-1]
        kept = data.decode("utf-8", "ignore").split("\n")
        assert followed(data, tmp_path / "f")[0] == [line for line in kept if line]


@pytest.mark.parametrize("language", WORDS)
def test_the_hint_on_nul_bytes_keeps_the_text(tmp_path: Path, language: str) -> None:
    lines, draw = lines_of(language), random.Random(5)
    data = "".join(line + "\n" for line in lines).encode()
    for count, side in ((3, 0), (3, 1), (20, 0), (20, 1)):
        broken = bytearray(data)
        for at in sorted(draw.sample(range(len(data) // 2), count), reverse=True):
            broken.insert(2 * at + side + (count - 1) % 2, 0)
        assert followed(bytes(broken), tmp_path / "f")[0] == lines
    for end in (b"\0\n", b"\n\0"):
        assert followed(data.replace(b"\n", end), tmp_path / "f")[0] == lines


@pytest.mark.parametrize(
    ("language", "encoding"), [(name, code) for name in ENCODINGS for code in ENCODINGS[name]]
)
def test_the_hint_on_another_encoding_gives_the_text(
    tmp_path: Path, language: str, encoding: str
) -> None:
    lines = [line.replace("😀", "!") for line in lines_of(language)]
    data = "".join(line + "\n" for line in lines).encode(encoding)
    assert followed(data, tmp_path / "f")[0] == lines


def test_a_file_that_is_utf_8_for_long_is_no_other_encoding(tmp_path: Path) -> None:
    lines = lines_of("Chinese")
    good = "".join(line + "\n" for line in lines * 400).encode()
    bad = "".join(line + "\n" for line in lines * 400).encode("gb18030")
    kept, hint = followed(good + bad[:-2], tmp_path / "f")
    assert hint.startswith("broken in 8,000 lines")
    assert kept[:8000] == lines * 400
