"""xmine pairs show and xmine search in a run: what the app shows, as text and JSON."""

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.toys.command import Command
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.pipeline import mine


@pytest.fixture(scope="module")
def run(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of 40 lines of English and as many of Chinese; line 4 of both is the same."""
    folder = tmp_path_factory.mktemp("around")
    english, chinese, _ = toy_sentences(50, seed=11)
    (folder / "en.txt").write_text("\n".join(english[:40]), encoding="utf-8")
    (folder / "zh.txt").write_text(
        "\n".join([*chinese[:4], *chinese[29:3:-1], *chinese[40:]]), encoding="utf-8"
    )
    mine(folder / "en.txt", folder / "zh.txt", SentenceEncoder.load(toy_folder), run=folder / "run")
    return str(folder / "run")


def test_a_pair_is_shown_between_its_neighbours(command: Command, run: str) -> None:
    pairs = command("pairs", "list", run).rows
    best = next(pair for pair in pairs if pair[3] != pair[4])
    source, target = best[3], best[4]
    shown = command("pairs", "show", run, source, target)
    rows = shown.out[shown.out.index("targets nearest to the source:") :].splitlines()
    figures = f"= 1  score {best[0]}  cosine {best[5].strip()}  line "
    assert rows[1:3] == [f"{figures}{target}  kept", f"     {best[2]}"]
    assert rows[11:15] == [
        "",
        "sources nearest to the target:",
        f"{figures}{source}  kept",
        f"     {best[1]}",
    ]
    assert [row[:3] for row in rows[1:11:2]] == ["= 1", "  2", "  3", "  4", "  5"]
    facts = json.loads(command("pairs", "show", run, source, target, "--json").out)["neighbours"]
    assert [len(facts[name]) for name in ("targets", "sources")] == [5, 5]
    first, second = facts["targets"][:2]
    assert first == {
        "rank": 1,
        "score": float(best[0]),
        "cosine": float(best[5]),
        "line": int(target),
        "offset": None,
        "text": best[2],
        "chosen": True,
        "outcome": "kept",
        "why": "kept",
        "better": None,
    }
    better = second["better"]
    assert second["outcome"] == "taken" and second["chosen"] is False and second["why"]
    assert rows[3].endswith(f"  in a better pair: {better['source_line']}, {better['target_line']}")


def test_a_terminal_gets_a_row_of_each_neighbour(
    command: Command, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    best = command("pairs", "list", f"{run}/pairs.parquet", "-n", "1").rows[0]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "25")
    rows = command("pairs", "show", run, *best[3:5]).out.splitlines()
    texts = [row for row in rows if row.startswith("     ")]
    assert len(texts) == 10 and all(cell_len(row) <= 25 for row in texts)
    assert any(row.endswith("…") for row in texts)


def test_neighbours_that_were_not_compared_have_no_score(
    command: Command, run: str, toy_folder: Path, tmp_path: Path
) -> None:
    texts, reranked = Path(run).parent, f"{tmp_path}/reranked/"
    files = texts / "en.txt", texts / "zh.txt"
    mine = "mine", *files, "--model", toy_folder, "--rerank", "tokens", "-o", reranked
    assert command(*mine).code == 0
    best = command("pairs", "list", reranked, "-n", "1").rows[0]
    shown = command("pairs", "show", reranked, *best[3:5]).out
    rows = shown[shown.index("targets nearest") :].splitlines()[1:9:2]
    assert rows[0].startswith(f"= 1  score {best[0]}  ")
    assert ["score –" in row and row.endswith("  not compared") for row in rows] == [False] * 2 + [
        True
    ] * 2
    facts = json.loads(command("pairs", "show", reranked, *best[3:5], "--json").out)["neighbours"]
    assert [each["score"] for each in facts["targets"]][2:] == [None] * 3
    assert facts["targets"][0]["score"] == float(best[0])


def test_lines_that_are_none_are_refused(command: Command, run: str) -> None:
    for word, said in (("-", "'-' is no line"), ("1:", "'1:' is no line")):
        ended = command("pairs", "show", run, word, "1")
        assert (ended.code, ended.out) == (2, "")
        assert said in ended.err


def test_a_run_is_searched_on_both_sides(command: Command, run: str) -> None:
    text = toy_sentences(50, seed=11)[1][3]
    rows = [row.split("\t") for row in command("search", text, run, "-k", "2").out.splitlines()]
    assert [row[0] for row in rows] == ["source", "source", "target", "target"]
    assert rows[2] == ["target", "1.1000", "1.0000", text, "4"]
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
    assert [row[5:] for row in rows] == [["2", text]] * 2 + [["3", "bade fibe"]] * 2
    Path("two.txt").write_text(f"\u2603\u2603\n{text}\n", encoding="utf-8")
    ended = command("search", "two.txt", run, "-k", "1")
    assert (ended.code, [row.split("\t")[5] for row in ended.out.splitlines()]) == (0, ["2"] * 2)
    assert "nothing found for '\u2603\u2603': the encoder knows no token of it" in ended.err
    ended = command("search", text, run, "--batch-size", "4")
    assert "--batch-size: no effect without a transformer" in ended.err
    ended = command("search", "bade", "nowhere/")
    assert (ended.code, ended.out) == (1, "")
    assert "no mining run there" in ended.err
