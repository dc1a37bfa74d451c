"""`--explain`: words and their counterparts on a terminal, in a pipe, and as JSON."""

import json
from pathlib import Path

import pytest

from tests.toys.command import Command
from xmine.browsing.shared_spans import Shared
from xmine.browsing.word_alignment import align_words
from xmine.cli import explaining
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import as_pair
from xmine.pairs.pair import Pair

# Markup, an escape code and a tab are text; nothing of them is on the other side.
PAIR = Pair("Museum [red]zzqx\x1b[31m\tpaintings", "博物馆的画")


def printed(capsys: pytest.CaptureFixture[str], *, words: bool = False) -> str:
    found = align_words(as_pair(SentenceEncoder.load()), PAIR.source, PAIR.target)
    explaining.print_explained(["head"], PAIR, found, Shared([], []), words=words)
    return capsys.readouterr().out


def test_a_pipe_gets_the_texts_as_they_are_and_a_row_of_what_is_not_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    head, blank, source, target, _, lost, *_ = printed(capsys).split("\n")
    assert (head, blank, source, target) == ("head", "", PAIR.source, PAIR.target)
    assert lost.startswith("no counterpart: ") and "zzqx" in lost and "Museum" not in lost


def test_vowel_signs_stay_with_their_words() -> None:
    pair = Pair("x", "नमस्ते, (हिन्दी) गया।")
    spans = [(0, 8), (8, 17), (17, 22)]
    named = explaining.named_parts("lost", pair, ([], spans))
    assert named == ["lost:  | नमस्ते, हिन्दी, गया"]


def test_a_terminal_gets_dim_words_and_no_code_of_a_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explaining, "is_terminal", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    source = printed(capsys).split("\n")[2]
    assert "\x1b[31m" not in source and "␛[31m" in source.replace("\x1b[2m", "").replace(
        "\x1b[22m", ""
    )
    dim = "".join(part.split("\x1b[22m")[0] for part in source.split("\x1b[2m")[1:])
    assert "zzqx" in dim and "Museum" not in dim
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(capsys).split("\n")[2]


def test_each_word_is_listed_with_its_counterpart(capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, words=True).split("\n")
    at = rows.index("words of the source, cosine and counterpart:")
    assert rows[at + 1].split()[1:] == ["Museum", "博物馆"]
    assert float(rows[at + 1].split()[0]) > 0.5
    assert "words of the target, cosine and counterpart:" in rows


def test_score_explains_each_pair(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("The museum is open.\nRice grows here.\n", encoding="utf-8")
    (tmp_path / "a.zh").write_text("博物馆开放。\n这里种水稻。\n", encoding="utf-8")
    ended = command("score", "a.en", "a.zh", "--explain")
    assert ended.code == 0
    assert ended.out.count("words of the source") == 2
    assert "lines 1, 1" in ended.out and "lines 2, 2" in ended.out
    ended = command("score", "a.en", "a.zh", "--explain", "--json", "-o", "b.tsv")
    first, second = map(json.loads, ended.out.splitlines())
    assert "2 pairs scored" in ended.err  # as text, since stdout has the rows
    assert (first["target"], second["source_line"]) == ("博物馆开放。", 2)
    museum = first["words"]["source"][1]
    assert museum["text"] == "museum"
    assert museum["counterpart"] == {"start": 0, "end": 3, "text": "博物馆"}
    assert len((tmp_path / "b.tsv").read_text(encoding="utf-8").splitlines()) == 3


def test_given_vectors_explain_nothing(command: Command, tmp_path: Path) -> None:
    import numpy as np

    for name in ("en", "zh"):
        (tmp_path / f"a.{name}").write_text("a\nb\n", encoding="utf-8")
        np.save(tmp_path / f"{name}.npy", np.eye(2, dtype=np.float32))
    vectors = ("--src-vectors", "en.npy", "--tgt-vectors", "zh.npy")
    ended = command("score", "a.en", "a.zh", "--explain", *vectors)
    assert ended.code == 2 and "--explain: given vectors have no tokens" in ended.err
