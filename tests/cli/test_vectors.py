"""xmine encode, search and model info."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tests.toys.command import Command, Toy
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder


def test_encode_writes_a_unit_row_per_line_and_zeros_for_a_blank_one(
    command: Command, tmp_path: Path, toy_folder: Path
) -> None:
    lines = ["bade fifi", "", "golu mane", "bade fifi", "  \t", "tutu"]
    Path(tmp_path, "text.txt").write_text("\r\n".join(lines) + "\r\n")
    ended = command("encode", "text.txt", "-o", "text.npy", "--model", toy_folder)
    assert (ended.code, ended.out, ended.touched) == (0, "", {"text.npy"})
    assert ended.err.startswith("xmine: 6 lines -> text.npy float32 [6, 32], 2 rows of zeros, ")
    vectors = np.load(tmp_path / "text.npy")
    assert (vectors.shape, vectors.dtype) == ((6, 32), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1, 0, 1], atol=1e-6)
    assert (vectors[0] == vectors[3]).all()
    assert (vectors == SentenceEncoder.load(toy_folder).encode(lines)).all()


def test_encode_reads_standard_input_and_says_json(
    command: Command, tmp_path: Path, toy_folder: Path
) -> None:
    encode = ["encode", "-", "-o", "text.npy", "--model", toy_folder]
    ended = command(*encode, "--json", stdin=b"bade\nfifi\n")
    facts = json.loads(ended.out)
    assert (facts["lines"], facts["dim"], facts["zeros"]) == (2, 32, 0)
    assert (ended.code, ended.err, facts["output"]) == (0, "", "text.npy")
    refused = command(*encode, stdin=b"bade\n")
    assert refused.err.startswith("xmine: text.npy: exists already\nhint: ")
    assert (refused.code, refused.touched) == (1, set())
    assert command(*encode, "--force", "-q", stdin=b"bade\n").err == ""
    assert len(np.load(tmp_path / "text.npy")) == 1


def test_encode_streams_what_it_reads_into_the_file(
    command: Command, tmp_path: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.cli.encode._LOOKED_AT", 100)
    monkeypatch.setattr("xmine.encoders.modules.static.StaticEmbedding.texts_at_once", 64)
    lines = [f"bade fifi {'golu ' * (number % 7)}" for number in range(1001)]
    Path(tmp_path, "text.txt").write_text("\n".join(lines))
    encode = ["encode", "text.txt", "--model", toy_folder, "-o"]
    expected = SentenceEncoder.load(toy_folder).encode(lines)
    np.save(tmp_path / "expected.npy", expected)
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert command(*encode, f"{threads}.npy").touched == {f"{threads}.npy"}
        assert Path(tmp_path, f"{threads}.npy").read_bytes() == (
            Path(tmp_path, "expected.npy").read_bytes()
        )
    with Path(tmp_path, "text.txt").open("ab") as file:
        file.write(b"\n\xff")
    ended = command(*encode, "broken.npy")
    assert "\nxmine: text.txt:1002: not UTF-8: " in ended.err  # after a warning
    assert (ended.code, ended.touched) == (1, set())


@pytest.mark.long
def test_encode_never_holds_all_vectors(
    command: Command, tmp_path: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.cli.encode._LOOKED_AT", 100)
    monkeypatch.setattr("xmine.encoders.modules.static.StaticEmbedding.texts_at_once", 256)
    command("encode", "-", "-o", "first.npy", "--model", toy_folder, stdin=b"bade\n")
    peaks, elsewhere = [], tmp_path.parent / f"{tmp_path.name}-out"  # `command` reads tmp_path
    elsewhere.mkdir()
    for count in (60_000, 90_000):
        Path(tmp_path, "text.txt").write_text("bade fifi\n" * count)
        tracemalloc.start()
        try:
            command("encode", "text.txt", "-o", elsewhere / f"{count}.npy", "--model", toy_folder)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert np.load(elsewhere / f"{count}.npy").shape == (count, 32)
    assert peaks[1] - peaks[0] < 1_500_000  # of 3,840,000 bytes of vectors, 300,000 of text


def test_search_finds_the_translation_of_a_text(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    source, target, gold = toy_files
    texts, lines = source.read_text("utf-8").splitlines(), target.read_text("utf-8").splitlines()
    text_line, line = sorted(gold)[4]
    ended = command("search", texts[text_line - 1], "zh.txt", "-k", 2, "--model", toy_folder)
    rows = [row.split("\t") for row in ended.out.splitlines()]
    assert (ended.code, ended.err, len(rows)) == (0, "", 2)
    assert rows[0][2:] == [lines[line - 1], str(line)]
    assert float(rows[0][0]) > float(rows[1][0])
    assert all(len(each.split(".")[1]) == 4 for row in rows for each in row[:2])


def test_search_takes_a_file_of_texts_and_tells_their_lines(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    text = toy_files[0].read_text("utf-8").splitlines()[0]
    Path(tmp_path, "texts.txt").write_text(f"\n{text}\n\n{text}\n")
    search = ["search", "texts.txt", "zh.txt", "--model", toy_folder]
    rows = [row.split("\t") for row in command(*search).out.splitlines()]
    assert [row[4] for row in rows] == ["2"] * 3 + ["4"] * 3  # -k is 3, and blank lines count
    objects = [json.loads(row) for row in command(*search, "--json").out.splitlines()]
    assert [each["query_line"] for each in objects] == [2, 4]
    assert objects[0]["query"] == text
    assert [
        [f"{hit['score']:.4f}", f"{hit['cosine']:.4f}", hit["text"], str(hit["line"])]
        for hit in objects[0]["hits"]
    ] == [row[:4] for row in rows[:3]]


def test_search_orders_hits_by_tokens_or_by_cosine(
    command: Command, tmp_path: Path, toy_folder: Path
) -> None:
    (text,) = toy_sentences(1, seed=3)[0]
    turned = " ".join(reversed(text.split()))
    Path(tmp_path, "two.txt").write_text(f"{turned}\n{text}\n")
    search = ["search", text + " bade", "two.txt", "--model", toy_folder]
    rows = [row.split("\t") for row in command(*search, "--rerank", "off").out.splitlines()]
    assert [row[1] for row in rows] == [turned, text]  # equal cosines
    for words in ([], ["--rerank", "auto"], ["--rerank", "tokens"]):
        reranked = [row.split("\t") for row in command(*search, *words).out.splitlines()]
        assert [row[1:3] for row in reranked] == [[rows[0][0], text], [rows[0][0], turned]]
        assert float(reranked[0][0]) > float(reranked[1][0])
    plain = json.loads(command(*search, "--rerank", "off", "--json").out)["hits"]
    hits = json.loads(command(*search, "--json").out)["hits"]
    scores = [hit.pop("score") for hit in hits]
    assert 0.2 > scores[0] - scores[1] > 0.1 * 0.9  # the same tokens in another order
    assert hits == plain[::-1]
    wrong = command(*search, "--rerank", "margin")
    assert (wrong.code, wrong.out) == (2, "")


def test_search_leaves_the_text_itself_out_when_asked(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    text = toy_files[0].read_text("utf-8").splitlines()[7]
    search = ["search", text.upper(), "en.txt", "--model", toy_folder, "-k", 2]
    rows = [row.split("\t") for row in command(*search).out.splitlines()]
    others = [row.split("\t") for row in command(*search, "--exclude-exact").out.splitlines()]
    assert rows[0][2:] == [text, "8"]
    assert len(rows) == len(others) == 2
    assert others[0] == rows[1]
    assert "8" not in [row[3] for row in others]


def test_search_takes_a_long_text_and_tells_a_file_that_is_none(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    search = ["search", "--model", toy_folder, "zh.txt", "-k", 1]
    long = command("search", "bade fifi " * 100, *search[1:])  # longer than a file's name can be
    assert (long.code, long.err, long.out.count("\n")) == (0, "", 1)
    typo = command("search", "bade.txt", *search[1:])
    assert typo.err == "xmine: no file bade.txt: searching for it as a text\n"
    unknown = command("search", "\u2603\u2603", *search[1:])
    assert (unknown.code, unknown.out) == (0, "")
    assert unknown.err.endswith("nothing found for '☃☃': the encoder knows no token of it\n")
    alone = command("search", "bade", "-", "--exclude-exact", *search[1:3], stdin=b"Bade\n")
    assert (alone.code, alone.out) == (0, "")
    assert alone.err == "xmine: warning: nothing found for 'bade'\n"


def test_search_counts_what_its_rows_cannot_hold(
    command: Command, tmp_path: Path, toy_folder: Path
) -> None:
    Path(tmp_path, "corpus.txt").write_text("bade\tfifi\n")
    Path(tmp_path, "texts.jsonl").write_text('{"text": "bade \\n fifi\\r"}\n')
    search = ["search", "texts.jsonl:text", "corpus.txt", "--model", toy_folder]
    ended = command(*search)
    assert ended.out.split("\t")[2:] == ["bade fifi", "1", "1", "bade   fifi \n"]
    assert ended.err == (
        "xmine: tabs turned into spaces in 1 sentence, "
        "line breaks turned into spaces in 1 sentence\n"
    )


def test_model_info_tells_what_an_encoder_is(command: Command, toy_folder: Path) -> None:
    ended = command("model", "info", toy_folder)
    assert (ended.code, ended.err) == (0, "xmine: its card: --card\n")
    size = sum(path.stat().st_size for path in toy_folder.rglob("*") if path.is_file())
    facts = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
    assert facts["languages"] == "en, zh"
    assert (facts["dim"], facts["vocabulary"], facts["bytes"]) == ("32", "500", f"{size:,}")
    assert command("model", "info", toy_folder, "--card").out == "# A toy\n"
    as_json = json.loads(command("model", "info", toy_folder, "--json").out)
    assert (as_json["languages"], as_json["bytes"]) == (["en", "zh"], size)
    assert as_json["card"] == "# A toy\n"


def test_model_info_without_a_folder_is_about_the_embedded_encoder(command: Command) -> None:
    ended = command("model", "info", "--json")
    facts = json.loads(ended.out)
    assert (ended.code, len(facts["languages"])) == (0, 50)
    assert facts["bytes"] < 108_000_000
    assert facts["card"].startswith("---") or facts["card"].startswith("#")
