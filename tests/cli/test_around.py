"""xmine pairs neighbors and map, xmine search in a run: what the app shows, as text and JSON."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toys.command import Ended
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.pipeline import mine

Command = Callable[..., Ended]


@pytest.fixture(scope="module")
def run(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of 40 lines of English and as many of Chinese; line 4 of both is the same."""
    folder = tmp_path_factory.mktemp("around")
    english, chinese, _ = toy_sentences(50, seed=11)
    (folder / "en.txt").write_text("\n".join(english[:40]), encoding="utf-8")
    (folder / "zh.txt").write_text("\n".join(chinese[:30] + chinese[40:]), encoding="utf-8")
    mine(folder / "en.txt", folder / "zh.txt", SentenceEncoder.load(toy_folder), run=folder / "run")
    return str(folder / "run")


def test_the_neighbours_of_a_pair_are_printed_with_their_fates(command: Command, run: str) -> None:
    best = command("pairs", "head", f"{run}/pairs.parquet", "-n", "1").out.split("\t")
    source, target = best[3], best[4]
    rows = [
        row.split("\t")
        for row in command("pairs", "neighbors", run, source, target).out.splitlines()
    ]
    assert [row[0] for row in rows] == ["source's"] * 4 + ["target's"] * 4
    assert rows[0] == ["source's", "1", best[0], best[5], target, "kept", best[2]]
    assert rows[4] == ["target's", "1", best[0], best[5], source, "kept", best[1]]
    ended = command("pairs", "neighbors", run, source, target, "-k", "2", "--json")
    facts = json.loads(ended.out)
    assert facts["source"] == {"line": int(source), "offset": None, "text": best[1]}
    assert [len(facts[name]) for name in ("targets", "sources")] == [2, 2]
    first = facts["targets"][0]
    assert (first["line"], first["chosen"], first["outcome"], first["rank"]) == (
        int(target),
        True,
        "kept",
        1,
    )
    assert facts["targets"][1]["chosen"] is False
    assert facts["targets"][1]["why"]
    one = json.loads(command("pairs", "neighbors", run, "-", target, "--json").out)
    assert one["source"] is None
    assert one["targets"] == []
    assert one["sources"][0]["line"] == int(source)
    ended = command("pairs", "neighbors", run, source, "-k", "99")
    assert len(ended.out.splitlines()) == 4
    assert "the run has found 4 neighbours of a sentence, no more" in ended.err


def test_neighbours_that_were_not_compared_have_no_score(
    command: Command, run: str, toy_folder: Path, tmp_path: Path
) -> None:
    texts, reranked = Path(run).parent, f"{tmp_path}/reranked/"
    files = texts / "en.txt", texts / "zh.txt"
    mine = "mine", *files, "--model", toy_folder, "--rerank", "tokens", "-o", reranked
    assert command(*mine).code == 0
    best = command("pairs", "head", reranked, "-n", "1").out.split("\t")
    ended = command("pairs", "neighbors", reranked, best[3])
    rows = [row.split("\t") for row in ended.out.splitlines()]
    assert rows[0][2] == best[0]
    assert [row[2] == "–" for row in rows] == [False, False, True, True]
    assert all("only these are compared" in row[5] for row in rows[2:])
    facts = json.loads(command("pairs", "neighbors", reranked, best[3], "--json").out)
    assert [each["score"] for each in facts["targets"]][2:] == [None, None]
    assert facts["targets"][0]["score"] == float(best[0])


def test_lines_that_are_none_are_refused(command: Command, run: str) -> None:
    for word, said in {
        "-": "no line to look around",
        "x": "'x' is no line",
        "1:": "'1:' is no line",
        "5000": "line 5,000 has no sentence that was searched",
    }.items():
        ended = command("pairs", "neighbors", run, word)
        assert (ended.code, ended.out) == (2, "")
        assert said in ended.err


def test_a_run_is_searched_on_both_sides(command: Command, run: str) -> None:
    text = toy_sentences(50, seed=11)[1][3]
    rows = [row.split("\t") for row in command("search", text, run, "-k", "2").out.splitlines()]
    assert [row[0] for row in rows] == ["source", "source", "target", "target"]
    assert rows[2] == ["target", "1.0000", text, "4"]
    one = ["search", text, f"{run}/", "-k", "1", "--json", "--rerank"]
    facts = json.loads(command(*one, "off").out)
    assert facts["target"] == [{"cosine": 1.0, "text": text, "line": 4, "offset": None}]
    reranked = json.loads(command(*one, "auto").out)["target"]
    assert reranked == [{**facts["target"][0], "score": 1.1}]  # all in its place
    assert facts["query"] == text
    Path("two.txt").write_text(f"\n{text}\nbade fibe\n", encoding="utf-8")
    rows = [
        row.split("\t") for row in command("search", "two.txt", run, "-k", "1").out.splitlines()
    ]
    assert [row[4:] for row in rows] == [["2", text]] * 2 + [["3", "bade fibe"]] * 2
    Path("two.txt").write_text(f"\u2603\u2603\n{text}\n", encoding="utf-8")
    ended = command("search", "two.txt", run, "-k", "1")
    assert (ended.code, [row.split("\t")[4] for row in ended.out.splitlines()]) == (0, ["2"] * 2)
    assert "nothing found for '\u2603\u2603': the encoder knows no token of it" in ended.err
    ended = command("search", text, run, "--batch-size", "4")
    assert "--batch-size: without effect: a static encoder" in ended.err
    ended = command("search", "bade", "nowhere/")
    assert (ended.code, ended.out) == (1, "")
    assert "no mining run there" in ended.err


def test_a_map_is_drawn_and_printed(command: Command, run: str) -> None:
    ended = command("pairs", "map", run, "-o", "map.png", "-n", "12")
    assert ended.touched == {"map.png", "map.csv"}
    assert "map.png: 12 of " in ended.err
    facts = json.loads(command("pairs", "map", run, "-n", "12", "--json").out)
    assert len(facts["pairs"]) == 12
    assert facts["pairs"][0].keys() == {"source_line", "target_line", "source", "target"}
    rows = [row.split("\t") for row in command("pairs", "map", run, "-n", "12").out.splitlines()]
    assert len(rows) == 24
    assert [float(rows[0][2]), float(rows[0][3])] == facts["pairs"][0]["source"]
    ended = command("pairs", "map", run, "-n", "12", "--model", "nowhere")
    assert ended.code == 0 and "without effect: the run has vectors" in ended.err
    again = command("pairs", "map", run, "-o", "map.png")
    assert again.code != 0
    assert "--force" in again.err
    assert command("pairs", "map", run, "-o", "map.txt").code != 0
