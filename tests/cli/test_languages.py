"""A text in a language that the encoder was not made for is told, with a way out."""

import json
from pathlib import Path

import pytest

from tests.toys.command import Command
from tests.toys.nineteen import NINETEEN
from tests.toys.sentences import example_pairs

# Written for this test, twenty words or more each, in languages that the encoder was not made for.
BEYOND = {
    "Catalan": """Ahir al vespre vam caminar una bona estona vora el riu i vam parlar del futur.
L'aigua ja estava gelada, però el gel era prim i ningú no gosava trepitjar-lo.
Després va començar a nevar i vam tornar a casa per beure te calent a la vora de la finestra.""",
    "Georgian": """გუშინ საღამოს დიდხანს ვსეირნობდით მდინარის პირას და მომავალზე ვსაუბრობდით.
წყალი უკვე გაყინული იყო, მაგრამ ყინული თხელი იყო და მასზე დადგომას ვერავინ ბედავდა.
მერე თოვლი წამოვიდა და სახლში დავბრუნდით ცხელი ჩაის დასალევად.""",
}
KNOWN = {"English": NINETEEN["en"], "Chinese": NINETEEN["zh"]}


@pytest.mark.parametrize("language", BEYOND)
def test_mining_a_foreign_language_warns_once_and_goes_on(
    command: Command, tmp_path: Path, language: str
) -> None:
    Path(tmp_path, "x.txt").write_text(BEYOND[language] + "\nx\n", encoding="utf-8")
    Path(tmp_path, "zh.txt").write_text(KNOWN["Chinese"], encoding="utf-8")
    ended = command("mine", "x.txt", "zh.txt", "-q")
    assert f"xmine: warning: x.txt looks like {language}, which " in ended.err
    assert ended.err.count("--model") == 1
    assert (ended.code, ended.touched) == (0, set())
    assert "`xmine mine x.txt zh.txt --model e5`" in command("mine", "x.txt", "zh.txt").err
    assert "--model" not in command("mine", "x.txt", "zh.txt", "-q", "--src-lang", "en").err
    aligned = " ".join(command("align", "x.txt", "zh.txt").err.split())
    assert "lexicon of the two texts align them; --model e5 knows it" in aligned


def test_texts_in_order_are_aligned_in_a_language_that_the_encoder_lacks(
    command: Command, tmp_path: Path
) -> None:
    english = example_pairs().sources[:120]
    letters = str.maketrans("abcdefghijklmnopqrstuvwxyz", "აბგდევზთიკლმნოპჟრსტუფქღყშჩ")
    georgian = [line.lower().translate(letters)[::-1] for line in english]
    for name, lines in (("a b", english), ("ka", georgian), ("sorted", sorted(georgian))):
        Path(tmp_path, name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = command("mine", "a b", "ka")
    assert "are in one order: their lines are aligned; --as lines mines them" in " ".join(
        done.err.split()
    )
    pairs = [line.split("\t")[3:5] for line in done.out.splitlines()[1:]]
    assert pairs == [[str(at)] * 2 for at in range(1, 121)]
    assert "one order" not in command("mine", "a b", "sorted").err


def test_the_summary_names_the_languages_and_files_hold_their_codes(
    command: Command, tmp_path: Path
) -> None:
    for code in ("de", "pt"):
        Path(tmp_path, f"{code}.txt").write_text(NINETEEN[code], encoding="utf-8")
    ended = command("mine", "de.txt", "pt.txt", "--threshold", "0", "-o", "pairs.tmx")
    assert " pairs from 3 German x 3 Portuguese sentences, " in ended.err
    assert 'srclang="de"' in Path(tmp_path, "pairs.tmx").read_text("utf-8")
    assert "written as und" not in ended.err
    said = command("mine", "de.txt", "pt.txt", "--threshold", "0", "--tgt-lang", "pt-PT", "--json")
    assert json.loads(said.out)["languages"] == ["de", "pt-PT"]


@pytest.mark.parametrize(
    "words", [("search", "x.txt", "zh.txt"), ("search", "zh.txt", "x.txt"), ("encode", "x.txt")]
)
def test_searching_and_encoding_warn_too(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    Path(tmp_path, "x.txt").write_text(BEYOND["Catalan"], encoding="utf-8")
    Path(tmp_path, "zh.txt").write_text(KNOWN["Chinese"], encoding="utf-8")
    ended = command(*words, *(["-o", "x.npy"] if words[0] == "encode" else []), "-q")
    assert ended.err.startswith("xmine: warning: x.txt looks like Catalan, which ")
    assert (ended.code, ended.err.count("\n")) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine", "en.txt", "en.txt"], "en.txt and en.txt: the same text"),
        (["mine", "en.txt", "copy.txt"], "en.txt and copy.txt: the same text"),
        (["mine", "en.txt", "more.txt"], "en.txt and more.txt: both look like English"),
        (["score", "en.txt", "more.txt"], "en.txt and more.txt: both look like English"),
        (
            ["mine", "en.txt", "zh.txt", "--src-lang", "zh", "--tgt-lang", "en"],
            "en.txt: does not look like Chinese (--src-lang zh)",
        ),
        (["mine", "en.txt", "zh.txt"], ""),
    ],
)
def test_sides_that_are_no_two_languages_are_told(
    command: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    english = KNOWN["English"]
    for name, text in (("en", english), ("copy", english), ("zh", KNOWN["Chinese"] * 2)):
        Path(tmp_path, f"{name}.txt").write_text(text, encoding="utf-8")
    more = "\n".join(f"{line} And so on." for line in english.split("\n")[::-1])
    Path(tmp_path, "more.txt").write_text(more, encoding="utf-8")
    ended = command(*arguments)
    shown = " ".join(ended.err.split())
    assert ended.code == 0
    assert f"xmine: warning: {said}" in shown if said else "look" not in shown


def test_codes_that_are_not_those_of_the_text_are_told(command: Command, tmp_path: Path) -> None:
    """A file of pairs that names wrong languages misleads whoever reads it next."""
    english, chinese = (
        KNOWN[name].replace("\n", " ").split(stop)
        for name, stop in (("English", "."), ("Chinese", "。"))
    )
    rows = (f"1.0\t{a}\t{b}\n" for a, b in zip(english * 3, chinese * 3, strict=False))
    Path(tmp_path, "x.tsv").write_text("".join(rows), encoding="utf-8")
    for name, side in (("x.zh", english), ("x.en", chinese)):
        Path(tmp_path, name).write_text("\n".join(side[:3]) + "\n", encoding="utf-8")
    turned = [
        "source of x.tsv: does not look like Chinese (--src-lang zh)",
        "target of x.tsv: does not look like English (--tgt-lang en)",
    ]
    other = ["target of x.tsv: does not look like Japanese (--tgt-lang ja)"]
    for codes, said in ((("zh", "en"), turned), (("en", "ja"), other), (("en", "zh"), [])):
        words = ["--src-lang", codes[0], "--tgt-lang", codes[1], "--force", "--json"]
        ended = command("convert", "x.tsv", "x.tmx", *words)
        assert json.loads(ended.out)["warnings"] == said
    ended = command("score", "x.zh,x.en", "-o", "y.tsv")
    shown = " ".join(ended.err.split())
    assert "source of x.zh,x.en: does not look like Chinese (source zh)" in shown
