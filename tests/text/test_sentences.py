import subprocess
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.mining.phrases import unknown_to_encoder
from xmine.text.folding import MOST_CHARACTERS
from xmine.text.identification import tell_apart
from xmine.text.sentences import Sentences, folded, read_sentences, sentence_table

if TYPE_CHECKING:
    from xmine.progress import Progress

NASTY = (
    "\ufeffone\r\n"
    "\n"
    "two\u2028still two\n"
    "   \t \n"
    "three\x0bthree\x0c\x85\u2029\n"
    "lone\rreturn\n"
    " spaces kept \n"
    "One\n"
    "一．\n"
    "一.\n"
    "last without end"
).encode()


def test_line_numbers_are_those_of_sed(tmp_path: Path) -> None:
    file = tmp_path / "nasty.txt"
    file.write_bytes(NASTY)
    table = read_sentences(file, dedup=False)
    assert table.total == 11
    assert table.blank == 2
    for text, line in zip(table.texts, table.lines.tolist(), strict=True):
        shown = subprocess.run(["sed", "-n", f"{line}p", file], capture_output=True).stdout
        shown = shown.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").removesuffix(b"\r")
        assert text.encode() == shown


def test_repeated_lines_are_folded_to_the_first(tmp_path: Path) -> None:
    file = tmp_path / "nasty.txt"
    file.write_bytes(NASTY)
    table = read_sentences(file)
    assert "One" not in table.texts  # repeats "one" but for case
    assert "一." not in table.texts  # repeats "一．" but for width
    assert table.repeated == 2
    assert len(table) + table.blank + table.repeated == table.total


def test_folding_compares_case_width_and_white_space_only() -> None:
    assert folded("Ａ  b\u3000C ") == folded("a B c")
    assert folded("a.") != folded("a")
    assert folded("機") != folded("机")


def test_the_first_lines_that_an_encoder_does_not_know_are_named() -> None:
    table = sentence_table("a.txt", ["a", "", *"bcdefghi"])
    known = table.known(np.array([0, 2, 8]))
    assert (known.texts[:], known.lines.tolist()) == (["a", "c", "i"], [1, 4, 10])
    assert (known.unknown, known.unknown_lines) == (6, (3, 5, 6, 7, 8))
    assert table.known(np.arange(9)).unknown_lines == ()


def test_lines_folded_into_a_row_are_counted_with_it() -> None:
    table = sentence_table("f", ["Yes.", "No.", "yes.", "", "ＹＥＳ."])
    assert table.occurrences is not None and table.occurrences.tolist() == [3, 1]
    last = table.take(np.array([1])).occurrences
    assert last is not None and last.tolist() == [1]
    every = sentence_table("f", ["Yes.", "yes."], dedup=False).occurrences
    assert every is not None and every.tolist() == [1, 1]


def slow_table(lines: list[str]) -> tuple[list[str], list[int], list[int], list[int], int]:
    """What dedup makes of lines, with a dict: texts, lines, occurrences, stands_for, repeated."""
    rows: dict[str, int] = {}
    texts: list[str] = []
    numbers: list[int] = []
    counts: list[int] = []
    stands_for = []
    for number, line in enumerate(lines, start=1):
        key, row = folded(line), rows.get(folded(line), len(texts))
        if key and row == len(texts):
            rows[key] = row
            texts.append(line)
            numbers.append(number)
            counts.append(0)
        if key:
            counts[row] += 1
        stands_for.append(numbers[row] if key else number)
    blank = sum(not line.strip() for line in lines)
    return texts, numbers, counts, stands_for, len(lines) - blank - len(texts)


def test_folding_is_that_of_a_dict() -> None:
    random = np.random.default_rng(4)
    words = [f"{random.integers(0, 400)}{' ' * int(n)}a" for n in random.integers(0, 3, size=900)]
    lines = [word.upper() if random.random() < 0.3 else word for word in words]
    lines[::50] = [" \t"] * len(lines[::50])
    table = sentence_table("f", iter(lines))
    texts, numbers, counts, stands_for, repeated = slow_table(lines)
    assert table.texts == texts
    assert table.occurrences is not None and table.stands_for is not None
    assert table.lines.tolist() == numbers
    assert table.occurrences.tolist() == counts
    assert table.stands_for.tolist() == stands_for
    assert (table.total, table.blank, table.repeated) == (900, 18, repeated)
    assert repeated > 100


def test_reading_never_holds_the_lines(tmp_path: Path) -> None:
    file = tmp_path / "many.txt"
    file.write_text("".join(f"line {number:06}\n" for number in range(60_000)))
    tracemalloc.start()
    try:
        table = read_sentences(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(table) == 60_000
    assert peak < 60_000 * 140  # lists and a dict of keys took 273


def test_reading_tells_how_far_it_is_where_the_end_is_known(tmp_path: Path) -> None:
    file = tmp_path / "many.txt"
    file.write_text("line\n" * 50_001)
    steps: list[Progress] = []
    assert read_sentences(file, report=steps.append).total == 50_001
    assert [(each.stage, each.done, each.total) for each in steps] == [
        ("reading", 50_000, 50_001),
        ("reading", 50_001, 50_001),
    ]
    steps.clear()
    assert sentence_table("f", ["one", "two"], report=steps.append).total == 2
    assert steps == []


def test_tables_of_the_same_texts_have_the_same_digest() -> None:
    one = sentence_table("one", ["Yes.", "", "No.", "yes."])
    other = sentence_table("other", ["Yes.", "No."])
    assert one.digest() == other.digest()
    assert one.digest() != one.take(np.array([1, 0])).digest()
    assert one.take(np.array([0])).digest() == sentence_table("f", ["Yes."]).digest()
    assert Sentences("f", ["Yes.", "No."], one.lines, 2, 0, 0).digest() == one.digest()


@pytest.mark.parametrize("unit", ["ferry ", "渡船离港。", "x", "e\u0301\u0316"])
def test_a_line_too_long_for_a_sentence_is_left_out_and_named(tmp_path: Path, unit: str) -> None:
    long = unit * (150_000 // len(unit))
    fits = ("ferry " * MOST_CHARACTERS)[:MOST_CHARACTERS]
    (tmp_path / "a.txt").write_text(f"One.\n{long}\n\nTwo.\n{fits}\n", encoding="utf-8")
    found = read_sentences(tmp_path / "a.txt")
    assert [*found.texts] == ["One.", "Two.", fits]
    assert (found.lines.tolist(), found.too_long, found.blank) == ([1, 4, 5], (2,), 1)
    (told,) = unknown_to_encoder(found)
    assert told.startswith(f"{tmp_path}/a.txt: 1 line left out: ") and "line 2;" in told
    encoder = SentenceEncoder.load()
    whole, start = encoder.encode([long, long[:MOST_CHARACTERS]])
    assert (whole == start).all()
    assert tell_apart(long, ["en", "zh"]) == tell_apart(long[:9], ["en", "zh"])
    (tmp_path / "a.txt").write_text(long, encoding="utf-8")
    with pytest.raises(FileError, match="only lines of more than 100,000 characters"):
        read_sentences(tmp_path / "a.txt")
    if "。" in unit:
        assert [*read_sentences(tmp_path / "a.txt", segment=True).texts] == [unit]
