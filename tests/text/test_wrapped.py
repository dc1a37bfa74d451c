"""Hard-wrapped text is read as its paragraphs, and every other text as its lines."""

import re
from pathlib import Path
from textwrap import wrap

import pytest

from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.pairs.io import read_pairs
from xmine.text.inputs import text_input
from xmine.text.sentences import read_sentences

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = [line.split("\t") for line in (EXAMPLES / "languages.tsv").read_text("utf-8").splitlines()]
LINES = {column[0]: column[1:] for column in zip(*ROWS, strict=True)}
EAST = "[\u3040-\u9fff]"


def paragraphs(name: str) -> list[str]:
    """Put five sentences together at a time."""
    space = "" if re.search(EAST, LINES[name][0]) else " "
    return [space.join(LINES[name][at : at + 5]) for at in range(0, 100, 5)]


def cut(text: str, width: int, indent: str) -> list[str]:
    if not re.search(EAST, text):
        return wrap(text, width, initial_indent=indent)
    text = "　" * len(indent) + text
    return [text[at : at + width // 2] for at in range(0, len(text), width // 2)]


def texts(path: Path, lines: list[str], *, join: bool = True) -> list[str]:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = list(text_input(path, join=join).texts())
    assert len(found) == len(lines)
    return found


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("indent", ["", "  "])
def test_wrapped_paragraphs_are_joined(tmp_path: Path, name: str, indent: str) -> None:
    given, right = paragraphs(name), 0
    for width in (44, 60, 68, 76, 80):
        lines, firsts = list[str](), list[int]()
        for text in given:
            firsts.append(len(lines))
            lines += [*cut(text, width, indent), *([] if indent else [""])]
        found = texts(tmp_path / "a.txt", lines)
        assert texts(tmp_path / "a.de", lines, join=False) == lines
        (tmp_path / "a.en").write_bytes((tmp_path / "a.de").read_bytes())
        pairs = read_pairs(f"{tmp_path}/a.en,{tmp_path}/a.de")  # of which no line is joined
        assert [pair.source for pair in pairs] == lines
        right += sum(found[at].strip() == text for at, text in zip(firsts, given, strict=True))
        assert sum(map(bool, found)) <= len(given) + 1
    assert right >= 90


@pytest.mark.parametrize("name", LINES)
def test_a_sentence_on_each_line_stays_one(tmp_path: Path, name: str) -> None:
    for most in (20, 60, 100):
        for every in (1, 2, 3, 5, 10, 30, 1000):
            apart = list[str]()
            for number, line in enumerate(LINES[name][:most], start=1):
                apart += [line, ""] if number % every == 0 else [line]
            set_in = ["   " * (at % every == 0) + x for at, x in enumerate(LINES[name][:most])]
            assert texts(tmp_path / "a.txt", apart) == apart
            assert texts(tmp_path / "a.txt", set_in) == set_in


def test_what_is_no_prose_stays_as_it_is(tmp_path: Path) -> None:
    words = " ".join(LINES["en"]).split()
    verse = [" ".join(words[at : at + 6]).capitalize() + "," for at in range(0, 400, 6)]
    table = [f"{a:<24}{b:<24}{c:<20}" for a, b, c in zip(*[iter(words)] * 3, strict=False)]
    code = [f"    {a} = {b}({c!r})" for a, b, c in zip(*[iter(words)] * 3, strict=False)]
    log = [f"2026-01-01 12:00:{at % 60:02} server[{at:04}] GET /{at:06} 200" for at in range(99)]
    items = [f"- {line}" for line in LINES["en"]]
    bare = [line.lower().rstrip(".?!") for line in LINES["en"]]
    even = [(line.lower() * 2)[:57].replace(".", ",") + "." for line in LINES["en"]]
    for kind in (verse, table, code, log, items, bare, even):
        lines = [x for at in range(0, 60, 4) for x in (*kind[at : at + 4], "")]
        assert texts(tmp_path / "a.txt", lines) == lines
    lines = [*wrap(paragraphs("en")[0] * 9, 60), "", "x"]
    assert texts(tmp_path / "a.rmd", lines) == lines


def test_verse_and_lists_inside_of_wrapped_text_stay(tmp_path: Path) -> None:
    prose = [x for text in paragraphs("en") for x in (*wrap(text, 60), "")]
    inside = ["The wind is cold,", "The night is long,", "", "1. Bread", "2. Milk", "", "* * *", ""]
    inside += [
        *(f"{word:<50}{word:>9}" for word in ("bread", "oats")),
        f"1. {'yes ' * 14}.",
        "2. no.",
    ]
    found = texts(tmp_path / "a.txt", [*prose, *inside, *prose])
    assert found[len(prose) : len(prose) + len(inside)] == inside
    prose = [x for text in paragraphs("en") for x in wrap(text, 60, initial_indent="  ")]
    turns = [f"  {'yes ' * 14}{mark}" for mark in "abc"]  # paragraphs of one full line
    found = texts(tmp_path / "a.txt", [*prose, *turns, *prose])
    assert found[len(prose) : len(prose) + 3] == turns


def test_words_cut_at_line_ends_are_whole(tmp_path: Path) -> None:
    both = {  # where the halves are words of the text, as good and natured, the hyphen stays
        "eine Bibl-|iothek und": "eine Bibliothek und",
        "die Haupt-|und Nebensätze": "die Haupt- und Nebensätze",
        "das Film-|Archiv der": "das Film-Archiv der",
        "ein gut-|artiger Hund": "ein gut-artiger Hund",
        "nach\xad|mittags um": "nachmittags um",
        "immer —|so sagt": "immer — so sagt",
    }
    prose = [x for text in ["gut artiger", *paragraphs("de")] for x in (*wrap(text, 60), "")]
    for given, right in both.items():
        before, after = given.split("|")
        lines = [f"{'wort ' * 11}{before}", f"{after} {'wort ' * 9}ende.", ""]
        many = ["eine Vor-", "stellung", "", "eine Dar-", "stellung", ""]
        assert right in texts(tmp_path / "a.txt", [*prose, *many, *lines])[-3]


def test_long_words_and_paragraphs_are_read_at_once(tmp_path: Path) -> None:
    prose = [x for text in paragraphs("en") for x in (*wrap(text, 60), "")]
    for more in (["a" * 60_000], ["ab" * 30] * 12_000, wrap("word and " * 70_000, 60)):
        found = texts(tmp_path / "a.txt", [*prose, *more])
        assert sum(map(bool, found)) <= 20 + len(more)


def test_beads_and_sentences_name_the_lines_of_the_file(tmp_path: Path) -> None:
    for name, width in (("en", 60), ("de", 68)):
        lines = [x for text in paragraphs(name) for x in (*wrap(text, width), "")]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        (tmp_path / f"{name}.flat").write_text("\n".join(paragraphs(name)), encoding="utf-8")
    both = tmp_path / "en", tmp_path / "de"
    for segment in (False, True):
        options = AligningOptions(segment=segment)
        found = align(*both, options=options)
        flat = align(f"{both[0]}.flat", f"{both[1]}.flat", options=options)
        beads = [(each.source, each.target) for each in flat.rows()]
        assert [(each.source, each.target) for each in found.rows()] == beads
        assert "wrapped lines are joined into 20 paragraphs; --no-join" in found.warnings[0]
        lines = both[0].read_text("utf-8").split("\n")
        for bead in found.rows():
            first, _, last = str(bead.source_lines).partition("-")
            shown = " ".join(lines[int(first) - 1 : int(last or first)])
            assert bead.source in shown
            assert bead.source.split()[0] in lines[int(first) - 1]
    table = read_sentences(both[0])
    assert (len(table), table.total, table.blank) == (20, len(lines) - 1, 19)
    assert [lines[at - 1].split()[0] for at in table.lines] == [
        text.split()[0] for text in paragraphs("en")
    ]
