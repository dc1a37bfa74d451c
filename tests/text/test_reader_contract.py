"""Every reader: a text comes out once or is counted, and time and memory grow with the file."""

import random
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import process_time

import pytest

from tests.toys.trade import book, open_document, pdf, response, word
from xmine.errors import FileError
from xmine.files.suffixes import kind_of
from xmine.pairs.io import read_pairs
from xmine.pairs.losses import Losses
from xmine.pairs.paths import FORMATS
from xmine.text.formats import BILINGUAL, KEYED, READERS, pandoc, read_units, units
from xmine.text.formats.units import within_budget
from xmine.text.inputs import text_input

# Two lines a file. The name; what stands around the rest, ¤; and pieces, in which ¶ is a word of a
# text and § one of its translation, which alone is read of one side. Then tokens to repeat, or five
# parts of which the second and fourth are; № counts. ⏎ is a line break, ⇥ a tab.
_TABLE = Path(__file__).with_name("readers.txt").read_text(encoding="utf-8").splitlines()
_CELLS = [line.replace("⏎", "\n").replace("⇥", "\t").split(" ¦ ") for line in _TABLE]
FILES = {row[0]: (row[1], row[2:], tokens) for row, tokens in zip(*[iter(_CELLS)] * 2, strict=True)}
KINDS = {name: kind_of(name.partition(":")[0]) for name in FILES}
APART = ("pdf", *pandoc.KINDS)  # read in a process of its own
CASES = [
    pytest.param(name, False, marks=[pytest.mark.process] * (kind in APART))
    for name, kind in KINDS.items()
    if kind in (*READERS, "csv")
]
CASES += [pytest.param(name, True) for name, kind in KINDS.items() if kind in FORMATS]
PACKS: dict[str, Callable[[str], bytes]] = {
    "docx": word,
    "epub": book,
    "odt": open_document,
    "pdf": lambda text: pdf([(9, 790 - 12 * y, 9, x) for y, x in enumerate(text.split("\n"))]),
    "warc": response,
}
LEAST, MOST = 2_000, 32_000  # bytes of a file
SECONDS, BYTES = 0.02, 500_000  # that count as none


def test_every_reader_is_in_the_table() -> None:
    """Of Parquet and zip archives the parts are read by others."""
    assert {*READERS} | {*FORMATS} - {"parquet", "zip"} == {*KINDS.values()} - {"csv"}
    assert KEYED <= {*READERS}


def texts_of(given: str, *, pairs: bool) -> tuple[list[str], int]:
    """Read all texts, and count what is told as left out."""
    path, left_out, losses = given.partition(":")[0], Counter[str](), Losses()
    if pairs:
        found = [text for pair in read_pairs(given, losses) for text in pair[:2]]
        return found, 2 * sum(
            int(n) for note in losses.notes() for n in re.findall(r"(?:^|of )(\d+)", note)
        )
    if kind_of(path) in READERS:
        return [unit.text for unit in read_units(path, kind_of(path), left_out)], left_out.total()
    return list(text_input(given).texts()), 0


def write(folder: Path, name: str, text: str) -> str:
    pack = PACKS.get(KINDS[name], str.encode)
    Path(folder, name.partition(":")[0]).write_bytes(pack(text))
    return f"{folder}/{name}"


@pytest.mark.parametrize(("name", "pairs"), CASES)
def test_each_text_comes_out_once_or_is_counted(tmp_path: Path, name: str, pairs: bool) -> None:
    frame, pieces, _ = FILES[name]
    read = "¶§" if pairs else "§" if KINDS[name] in BILINGUAL else "¶"
    for seed in range(4 if KINDS[name] in APART else 20):
        draw, words = random.Random(seed), list[str]()

        def filled(sign: re.Match[str], words: list[str] = words) -> str:
            words += [f"q{len(words)}z"] * (sign[0] in read)
            return words[-1] if sign[0] in read else "x"

        some = [pieces[0], *draw.choices(pieces, k=12)]
        body = "".join(each.replace("№", str(at)) for at, each in enumerate(some))
        body = re.sub("[¶§]", filled, body)
        texts, told = texts_of(write(tmp_path, name, frame.replace("¤", body)), pairs=pairs)
        found = Counter(re.findall(r"\w*q\d+z\w*", " ".join(texts)))
        assert max(found.values(), default=1) == 1, body
        missing = {*words} - {*found}
        assert len(missing) <= told, (missing, texts, body)
        assert {*found} <= {*words}, (texts, body)


@pytest.mark.parametrize(("name", "pairs"), CASES)
def test_one_budget_stands_around_every_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pairs: bool
) -> None:
    given = write(tmp_path, name, FILES[name][0].replace("¤", FILES[name][1][0]))
    monkeypatch.setattr(units, "_TEXT", -(10**9))
    if KINDS[name] not in ("csv", "tsv", "jsonl") and name != "b.tmx":  # it has no texts
        with pytest.raises(FileError, match=f"{name}: .* bytes gave .* characters"):
            texts_of(given, pairs=pairs)


def test_what_is_too_much_too_slow_or_too_deep_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deep() -> Iterator[tuple[str]]:
        yield from deep()

    path = tmp_path / "a.json"
    path.write_text("x" * 1000)
    some = [("x" * 10**6,)] * 67
    assert len(list(within_budget(path, iter(some)))) == 67
    with pytest.raises(FileError, match=r"a.json: 1,000 bytes gave 68,001,088 characters"):
        list(within_budget(path, iter([*some, *some])))
    with pytest.raises(FileError, match=r"a.json: nested deeper than can be read"):
        list(within_budget(path, deep()))
    monkeypatch.setattr(units, "thread_time", count(0, 16).__next__)
    with pytest.raises(FileError, match=r"characters in 32 seconds, and were not at their end"):
        list(within_budget(path, iter(some)))


def cost(folder: Path, name: str, pairs: bool, text: str) -> tuple[float, float]:
    """Measure the seconds and bytes that a file takes, with floors."""
    given = write(folder, name, text)
    tracemalloc.start()
    begun = process_time()
    with suppress(FileError):
        texts_of(given, pairs=pairs)
    spent, (_, peak) = process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return max(spent, SECONDS), max(peak, BYTES)


@pytest.mark.parametrize(
    "most", [pytest.param(2, id="few"), pytest.param(None, id="all", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("name", "pairs"), CASES)
def test_time_and_memory_grow_with_the_file(
    tmp_path: Path, name: str, pairs: bool, most: int | None
) -> None:
    frame, pieces, tokens = FILES[name]
    for token in [*tokens, *pieces][:most]:  # of processes the time is not counted
        parts = token.split("^") if token.count("^") == 4 else ["", token, "", "", ""]

        def taken(size: int, parts: list[str] = parts) -> tuple[float, float]:
            n = 1 + size // len(parts[1] + parts[3])
            one, other = (
                "".join(parts[at].replace("№", str(i)) for i in range(n)) for at in (1, 3)
            )
            body = parts[0] + one + parts[2] + other + parts[4]
            return cost(tmp_path, name, pairs, frame.replace("¤", body))

        for turn in range(3):  # another process may have been in the way
            size, small = LEAST, taken(LEAST)
            while size < MOST and small == (SECONDS, BYTES):
                size *= 2
                small = taken(size)
            large = taken(2 * size)
            if all(y < 3 * x for x, y in zip(small, large, strict=True)):
                break
            assert turn < 2, (token, small, large)
