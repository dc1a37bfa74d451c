"""What the command writes: pairs to the byte, files that are whole or not there, the summary."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.toys.command import Command, Toy
from tests.toys.nineteen import LINES
from xmine.cli.console import Console
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import read_pairs

# To the encoder of `tiny` texts of the same letters are equal; ties stand in the order of lines.
LETTERS = ("ba", "fi", "so")
SOURCE = "  ba  \u2028baba\nfifi\n\nso\tsoso\n"
TARGET = "sos\to so\nIFI fi\nabba\n"
TSV = (
    "score\tsource\ttarget\tsource_line\ttarget_line\tcosine\tprob\tflags\n"
    "1.0000\t  ba  \u2028baba\tabba\t1\t3\t1.0000\t0.9962\t\n"
    "1.0000\tfifi\tIFI fi\t2\t2\t1.0000\t0.9962\tnear-copy\n"
    "1.0000\tso soso\tsos o so\t4\t1\t1.0000\t0.9962\tnear-copy\n"
)
JSONL = (
    '{"score": 1.0, "source": "  ba  \u2028baba", "target": "abba", '
    '"source_line": 1, "target_line": 3, "cosine": 1.0, "prob": 0.9962, "flags": ""}\n'
    '{"score": 1.0, "source": "fifi", "target": "IFI fi", '
    '"source_line": 2, "target_line": 2, "cosine": 1.0, "prob": 0.9962, "flags": "near-copy"}\n'
    '{"score": 1.0, "source": "so\\tsoso", "target": "sos\\to so", '
    '"source_line": 4, "target_line": 1, "cosine": 1.0, "prob": 0.9962, "flags": "near-copy"}\n'
)


@pytest.fixture
def tiny(tmp_path: Path, toy_vocabulary: Vocabulary) -> list[str]:
    """Two files, and an encoder whose vectors are exact: one dimension for each set of letters."""
    vectors = np.zeros((len(toy_vocabulary), 8), dtype=np.float32)
    for dimension, letters in enumerate(LETTERS):
        first, second = letters[0], letters[1]
        ids, _ = toy_vocabulary.ids(
            [f"{letters}{letters} {letters} {second}{first} {first} {second}"]
        )
        vectors[ids, dimension] = 1
    vectors[vectors.sum(axis=1) > 1] = 0  # the mark of a word's start
    SentenceEncoder(StaticEmbedding(toy_vocabulary, Table.rounded(vectors))).save(
        tmp_path / "model"
    )
    Path(tmp_path, "a.txt").write_text(SOURCE, encoding="utf-8")
    Path(tmp_path, "b.txt").write_text(TARGET, encoding="utf-8")
    cut = ["--margin", "absolute", "--threshold", "0"]
    return ["mine", "a.txt", "b.txt", "--model", "model", *cut]


def test_golden_tsv_on_stdout_and_in_a_file(
    command: Command, tmp_path: Path, tiny: list[str]
) -> None:
    shown = command(*tiny)
    assert (shown.code, shown.out, shown.touched) == (0, TSV, set())
    assert "tabs turned into spaces in 2 sentences" in shown.err
    written = command(*tiny, "-o", "pairs.tsv")
    assert (written.code, written.out, written.touched) == (0, "", {"pairs.tsv"})
    assert Path(tmp_path, "pairs.tsv").read_bytes() == TSV.encode()


def test_pairs_go_to_the_format_that_the_name_says(
    command: Command, tmp_path: Path, tiny: list[str]
) -> None:
    expected = [json.loads(row) for row in JSONL.split("\n")[:-1]]
    for row in expected:
        row["prob"] = pytest.approx(row["prob"], abs=1e-6)  # texts round it, to four decimals
    for output in ("pairs.jsonl.gz", "pairs.parquet", "pairs.tmx.zst"):
        ended = command(*tiny, "-o", output, "--json")
        assert (ended.code, ended.err, ended.touched) == (0, "", {output})
        assert json.loads(ended.out)["notes"] == []
        assert [
            {key: value for key, value in pair._asdict().items() if value is not None}
            for pair in read_pairs(tmp_path / output)
        ] == expected
    ended = command(*tiny, "-o", "pairs.en,pairs.zh")
    assert (ended.code, ended.touched) == (0, {"pairs.en", "pairs.zh"})
    lost = "flags and line numbers and probabilities and scores of 3 pairs not kept\n"
    assert ended.err.endswith(lost)
    sources = [row["source"] + "\n" for row in expected]
    assert Path(tmp_path, "pairs.en").read_bytes().decode() == "".join(sources)
    facts = json.loads(command(*tiny, "--json", "-o", "notes.tsv").out)
    assert facts["notes"] == ["tabs turned into spaces in 2 sentences"]


def test_scores_and_cosines_are_those_of_the_formula_best_first(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    ended = command("mine", "en.txt", "zh.txt", "--model", toy_folder, "--threshold", "-inf")
    encoder = SentenceEncoder.load(toy_folder)
    left, right = (
        encoder.encode(path.read_text(encoding="utf-8").splitlines()).astype(np.float16)
        for path in toy_files[:2]
    )
    cosines = np.minimum(left.astype(np.float64) @ right.astype(np.float64).T, 1)
    forward = np.sort(cosines, axis=1)[:, -4:].mean(axis=1)
    backward = np.sort(cosines, axis=0)[-4:].mean(axis=0)
    rows = ended.rows
    assert len(rows) >= 30
    for score, _, _, source, target, cosine, _, _ in rows:
        at = int(source) - 1, int(target) - 1
        assert float(cosine) == pytest.approx(cosines[at], abs=6e-5)
        mean = (forward[at[0]] + backward[at[1]]) / 2
        assert float(score) == pytest.approx(cosines[at] / mean, abs=2e-4)
    ranks = [(float(row[6]), float(row[0])) for row in rows]  # the more probable first
    assert ranks == sorted(ranks, reverse=True)


def test_the_summary_agrees_with_the_json_object(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    gold = "".join(f"{source}\t{target}\n" for source, target in sorted(toy_files[2]))
    Path(tmp_path, "gold.tsv").write_text(gold)
    mine = ["mine", "en.txt", "zh.txt", "--model", toy_folder, "--gold", "gold.tsv"]
    plain = command(*mine)
    warnings = [line for line in plain.err.splitlines() if line.startswith("xmine: warning")]
    summary = plain.err.split("\n", len(warnings))[-1]
    alone = command(*mine, "--json")  # in place of the rows
    facts = json.loads(alone.out)
    own = command(*mine, "--json", "-o", "pairs.tsv")
    assert alone.err == own.err == ""
    assert {**json.loads(own.out), "seconds": 0} == {**facts, "seconds": 0}
    pairs = len(plain.rows)
    assert facts["pairs"] == pairs
    assert summary.startswith(
        f"xmine: {pairs} pairs from 60 unknown x 60 Chinese sentences, "
        f"probability at least {facts['cut']:.4f} (auto), "
    )
    low, high = facts["precision_interval"]
    assert f"expected precision {facts['precision']:.2f} ({low:.2f} to {high:.2f})" in summary
    assert f"about {facts['translations']:.0f} translations in the files" in summary
    assert facts["weakness"] in summary
    for name, words in {"precision": "precision", "recall": "recall", "f1": "F1"}.items():
        assert f"{words} {facts['gold'][name]:.3f}" in summary
    assert facts["gold"]["gold"] == len(toy_files[2])
    assert facts["options"]["neighborhood"] == 4
    assert warnings == [f"xmine: warning: {warning}" for warning in facts["warnings"]]
    assert len(warnings) == 1  # the toy language does not read like English


def test_quiet_says_nothing_and_verbose_says_more(command: Command, tiny: list[str]) -> None:
    quiet, plain, verbose = command(*tiny, "-q"), command(*tiny), command(*tiny, "-v")
    assert quiet.err == ""
    assert "a.txt: 4 lines, 1 blank, 0 repeated" in verbose.err
    assert plain.err.count("xmine: ") == 1 < verbose.err.count("xmine: ")
    assert quiet.out == plain.out == verbose.out == TSV


def test_nothing_but_text_goes_to_a_pipe(command: Command, tmp_path: Path, tiny: list[str]) -> None:
    text = "ba \x1b[31mbab\x1b[0m \x07 [ba]baba[/ba] \x9b2"
    Path(tmp_path, "a.txt").write_text(text + "\n", encoding="utf-8")
    Path(tmp_path, "b.txt").write_text(text + "\n", encoding="utf-8")
    ended = command(*tiny, "--keep-copies")
    assert ended.out.partition("\n")[2] == f"1.0000\t{text}\t{text}\t1\t1\t1.0000\t\tcopy,garbled\n"


def test_rows_are_json_lines_where_they_are_asked_for(command: Command, tiny: list[str]) -> None:
    """And stdout takes rows, or with --json the summary, never both."""
    command(*tiny, "-o", "pairs.jsonl")
    written = Path("pairs.jsonl").read_text("utf-8")
    rows = command(*tiny, "--format", "jsonl").out
    assert rows == written == JSONL  # tabs are kept
    assert command("convert", "pairs.jsonl", "-", "--format", "jsonl").out == written
    assert command("convert", "pairs.jsonl", "-").out == command(*tiny).out
    scored = command("score", "pairs.jsonl", *tiny[3:5], "--format", "jsonl").out
    first, found = json.loads(rows.split("\n")[0]), json.loads(scored.split("\n")[0])
    assert found["source"] == first["source"]
    asked = ("search", first["source"], tiny[1], *tiny[3:5], "-k", 2, "--format", "jsonl")
    hits = [json.loads(row) for row in command(*asked).out.split("\n")[:-1]]
    assert [hit["query"] for hit in hits] == [first["source"]] * 2
    assert hits[0]["text"] == first["source"]
    beads = command("align", *tiny[1:5], "--format", "jsonl").out
    assert "source_lines" in json.loads(beads.split("\n")[0])
    for words in (["--json", "-o", "-"], ["--json", "--format", "jsonl"]):
        assert command(*tiny, *words).err.startswith("xmine: --json and rows on stdout\n")
    assert command(*tiny, "--format", "tsv", "-o", "x.tsv").code == 2


def test_copied_text_is_dropped_and_unknown_lines_are_warned_about(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    for path, more in zip(
        toy_files[:2], ("sopi tulu\nDemak bade\n\u2603\n", "sopi  tulu \ndemak bade\n"), strict=True
    ):
        with path.open("a", encoding="utf-8") as file:
            file.write(more)
    ended = command("mine", "en.txt", "zh.txt", "--model", toy_folder)
    assert "warning: en.txt: 1 line left out: the encoder knows nothing of line 63\n" in ended.err
    # The other one is nearly the same, but capital letters may be a translation's.
    assert "\n       dropped: copy 1\n" in ended.err and "\tsopi tulu\t" not in ended.out
    # Of all candidates, whatever the cut is.
    options = ["--model", toy_folder, "--top", "1"]
    assert "dropped: copy 1\n" in command("mine", "en.txt", "zh.txt", *options).err
    kept = command("mine", "en.txt", "zh.txt", "--model", toy_folder, "--keep-copies")
    assert "dropped" not in kept.err and "\tsopi tulu\t" in kept.out
    assert kept.out.count("\n") == ended.out.count("\n") + 1


def test_files_that_would_tell_wrong_languages_are_warned_about(
    command: Command, tmp_path: Path, tiny: list[str]
) -> None:
    english, chinese = LINES["en"], LINES["zh"]
    for name, lines in (("some.en", english), ("some.zh", chinese)):
        Path(tmp_path, name).write_text("\n".join(lines), encoding="utf-8")
    guessed = command("mine", "some.en", "some.zh", "-o", "p.zh,p.en")
    assert (
        "xmine: warning: p.zh,p.en: the source seems to be en, the target zh: "
        "was the source's file to be named first?\n"
    ) in guessed.err
    assert (guessed.code, guessed.touched) == (0, {"p.zh", "p.en"})
    given = command(*tiny, "--src-lang", "en", "--tgt-lang", "zh", "-o", "q.zh,q.en")
    assert given.err.startswith("xmine: q.zh,q.en: the source is en, the target zh\n")
    assert (given.code, given.touched) == (2, set())  # before the work
    command("mine", "some.en", "some.zh", "-o", "run/")
    judged = command("pairs", "judge", "run/", "-o", "q.zh,q.en")
    assert judged.err.startswith("xmine: q.zh,q.en: the source is en, the target zh\n")
    assert (judged.code, judged.touched) == (2, set())
    unknown = command(*tiny, "--tgt-lang", "und", "-o", "pairs.tmx", "--json")
    assert json.loads(unknown.out)["warnings"][-1] == (
        "pairs.tmx: language not known, written as und: name it with --src-lang, --tgt-lang"
    )


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


LONG = (
    "pairs.tsv: 1,234 pairs from 5,000 x 6,000 sentences, "
    "probability at least 0.4892 (auto), 12.3 s\n"
    "against gold: precision 0.951, recall 0.902, F1 0.926\n"
    "see /a/path/without/any/space/that/is/longer/than/a/narrow-screen/out.of-it/pairs.tsv"
)


@pytest.mark.parametrize("columns", [1, 40, 80, 140])
def test_a_terminal_breaks_lines_at_words(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    screen, pipe = Screen(), io.StringIO()
    monkeypatch.setenv("COLUMNS", str(columns))
    for stream in (screen, pipe):
        monkeypatch.setattr(sys, "stderr", stream)
        Console().say(LONG)
        Console().warn("few lines")
        Console(quiet=True).say(LONG)
        Console(as_json=True).warn("few lines")
    lines = screen.getvalue().split("\n")
    assert lines[0].startswith("xmine: pairs.tsv: ") and lines[-1] == ""
    assert lines[-2] == "xmine: warning: few lines" or columns == 1
    assert all(line.startswith((" " * 7, "xmine: ")) for line in lines[:-1])
    width = max(columns, 27)
    assert all(len(line) <= width or " " not in line.strip() for line in lines)
    words = screen.getvalue().replace("xmine: ", "").split()
    assert words == [*LONG.split(), "warning:", "few", "lines"]
    # Elsewhere a line of the message is a line, whatever the width.
    indented = LONG.replace("\n", "\n" + " " * 7)
    assert pipe.getvalue() == f"xmine: {indented}\nxmine: warning: few lines\n"
