"""Judging and cutting from the command line: what is kept, told, exported, mined with again."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toys.command import Command, Toy, without_summary
from xmine.browsing.opening import open_pairs
from xmine.browsing.view import View
from xmine.browsing.write_cut import read_again, write_cut
from xmine.errors import FileError
from xmine.judging.judgements import Judgements
from xmine.judging.samples import Sample
from xmine.pairs.io import read_pairs
from xmine.run.folder import alone_in

# A child for each run: the first is killed when it renames its first file, and so on.
KILLED_AT = """
import os, signal, sys
from pathlib import Path
from xmine.browsing.write_cut import write_cut
rename = Path.replace
for renamed, run in enumerate(sys.argv[1:]):
    left = [renamed]
    def replace(self, target):
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return rename(self, target)
    Path.replace = replace
    if not (child := os.fork()):
        write_cut(Path(run), 0.5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
"""


@pytest.fixture
def mined(mined_once: Callable[..., Path]) -> Path:
    """A run that is done, from which everything with a probability of 0.01 or more is kept."""
    return mined_once("--min-prob", "0.01")


def _mine(output: str, cut: str, model: Path, *more: str) -> list[str]:
    files = ("mine", "en.txt", "zh.txt")
    return [*files, "-o", output, "--min-prob", cut, "--model", str(model), *more]


def contents(run: Path) -> dict[str, bytes]:
    return without_summary(
        {
            str(path.relative_to(run)): path.read_bytes()
            for path in sorted(run.rglob("*"))
            if path.is_file() and path.name not in ("log.txt", ".lock")
            if not path.name.startswith("result-")  # named by the command
        }
    )


def summary(run: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    return found


def lines_of(run: Path, row: int) -> tuple[int, int]:
    pair = open_pairs(run).pair(row)
    assert pair.source_line and pair.target_line
    return pair.source_line, pair.target_line


def test_judgements_are_told_and_exported(command: Command, mined: Path) -> None:
    said = {0: "accept", 1: "accept", 2: "reject", 3: "unsure", 4: "accept"}
    for row, judgement in said.items():
        ended = command("pairs", "judge", "run", *lines_of(mined, row), judgement)
        assert ended.code == 0 and ended.touched == {"run/judgements.tsv"}, ended.err
    command("pairs", "judge", "run/", *lines_of(mined, 4), "none")
    ended = command("pairs", "judge", "run", "-o", "accepted.tsv")
    assert ended.touched == {"accepted.tsv"}
    assert ended.out.splitlines()[1:4] == [
        "accepted            2",
        "rejected            1",
        "unsure              1",
    ]
    opened = open_pairs(mined)
    accepted = [(pair.source, pair.target) for pair in read_pairs(mined.parent / "accepted.tsv")]
    assert accepted == [(opened.pair(row).source, opened.pair(row).target) for row in (0, 1)]
    facts = json.loads(
        command("pairs", "judge", "run", "--json", "-o", "no.jsonl", "--rejected").out
    )
    assert (facts["judged"], facts["accepted"], facts["kept_judged"]) == (4, 2, 4)
    assert facts["precision_judged"]["share"] is None  # the best pairs do not tell of all
    assert facts["written"] == ["no.jsonl: 1 pair"]
    for words in (("--report", "-o", "run/judgements.tsv"), ("-o", "run/judgements.tsv")):
        ended = command("pairs", "judge", "run", *words, "--force")
        assert (ended.code, ended.touched) == (1, set())
        assert "run/judgements.tsv: has what people judged" in ended.err


def test_a_sample_is_judged_key_by_key_and_gone_on_with(command: Command, mined: Path) -> None:
    opened = open_pairs(mined)
    sample = Sample(opened, opened.cut, 12)
    ended = command("pairs", "judge", "run", "--sample", 12, stdin=b"a\nx u?q")
    assert ended.code == 0 and ended.touched == {"run/judgements.tsv"}
    first, third = (opened.pair(int(sample.rows[at])) for at in (0, 3))
    assert "1 of 12" in ended.err and first.source in ended.err and third.target in ended.err
    assert f"> {first.source_line:>8}  {first.source}" in ended.err
    assert ended.out.splitlines()[:1] == ["3 of 12 pairs judged, 1 unsure"]
    assert "correct the probabilities" in ended.err and "--seed-pairs run --force" in ended.err
    assert "or train on them: xmine adapt run -o adapted/" in ended.err
    # What was put off comes again, at the end.
    ended = command("pairs", "judge", "run", "--sample", 12, "--json", stdin=b"a" * 9)
    facts = json.loads(ended.out)
    assert (facts["judged"], facts["unsure"]) == (12, 1)
    assert (facts["precision_judged"]["so"], facts["precision_judged"]["of"]) == (10, 11)
    said = Judgements.open(opened)
    verdicts = [said.of(int(row)) for row in sample.rows[:4]]
    assert verdicts == ["accept", "reject", "accept", "unsure"]
    facts = json.loads(command("pairs", "judge", "run", "--json").out)
    assert facts["precision_judged"]["of"] == 11
    for wrong in (("1", "2"), ("1", "2", "accept", "--sample", "5")):
        assert command("pairs", "judge", "run", *wrong).code == 2


def test_a_team_judges_reports_decides_and_takes_labels(
    command: Command, mined: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, keys in (("ann", b"a" * 12), ("bob", b"a1aaaa")):
        monkeypatch.setenv("XMINE_JUDGE", name)
        words = ("--sample", 12, "--shared", "25 %")
        ended = command("pairs", "judge", "run", *words, stdin=keys)
        assert ("\n12 of 12\n" in ended.err) == (name == "ann")
    assert "ann: accept  bob: partial" in ended.err and "score" in ended.err.split("q end")[1]
    assert "\n3 of 3\n" in ended.err  # those of all: ann has judged the others
    ended = command("pairs", "judge", "run", "--report", "-o", "report.tsv")
    assert "alpha" in ended.out and "ann, bob" in ended.out and ended.touched == {"report.tsv"}
    rows = [row.split("\t") for row in (mined.parent / "report.tsv").read_text().splitlines()]
    assert [row[:2] for row in rows[1:]] == [["", "12"], ["ann", "12"], ["bob", "3"], ["ann", "3"]]
    monkeypatch.setenv("XMINE_JUDGE", "eve")
    ended = command("pairs", "judge", "run", "--conflicts", "--json", stdin=b" x")
    assert "ann: accept  bob: partial" in ended.err.split("q end")[0]
    assert json.loads(ended.out)["conflicts"] == 0
    assert command("pairs", "judge", "run", "--sample", 12, "-o", "labels.csv").code == 0
    (mined / "judgements.tsv").rename(mined / "before.tsv")
    for new in (16, 0):
        facts = json.loads(command("pairs", "judge", "run", "--take", "labels.csv", "--json").out)
        assert (facts["labels"], facts["new"]) == (16, new)
    assert command("pairs", "list", "run", "--where", "verdict = 'reject'").out.count("\n") == 2


def test_judgements_are_mined_with_again_and_outlive_it(
    command: Command, mined: Path, toy_folder: Path
) -> None:
    command("pairs", "judge", "run", *lines_of(mined, 0), "accept")
    command("pairs", "judge", "run", *lines_of(mined, 1), "reject")
    before = (mined / "judgements.tsv").read_bytes()
    for given in ("run/judgements.tsv", "run", "run/"):
        ended = command(
            *_mine("run/", "0.01", toy_folder, "--force"), "--seed-pairs", given, "--gold", given
        )
        assert ended.code == 0, ended.err
        assert (mined / "judgements.tsv").read_bytes() == before
    facts = summary(mined)
    assert facts["seed_pairs"] and facts["gold"]
    assert facts["gold"]["gold"] == 1  # type: ignore[index]
    assert open_pairs(mined).pair(0).prob == 1.0  # it is known now
    first, second = (str(line) for line in lines_of(mined, 0))
    for path in (mined / "source.npy", mined / "source.parquet"):
        assert path.exists()
    ended = command("mine", "en.txt", "zh.txt", "-o", "run/", "--force", "--segment")
    assert ended.code == 0, ended.err  # with another encoder and other texts everything is anew
    assert (mined / "judgements.tsv").read_bytes() == before
    assert f"{first}\t{second}\t".encode() in before


def test_what_was_judged_of_other_texts_or_without_lines_is_not_mined_with(
    command: Command, mined: Path, toy_folder: Path, tmp_path: Path
) -> None:
    for row, verdict in enumerate(("accept", "reject", "accept")):
        assert command("pairs", "judge", "run", *lines_of(mined, row), verdict).code == 0
    english = (tmp_path / "en.txt").read_text(encoding="utf-8").splitlines()
    changed = lines_of(mined, 1)[0] - 1
    english[changed] += " and more"
    (tmp_path / "en.txt").write_text("\n".join(english) + "\n", encoding="utf-8")
    ended = command(*_mine("new/", "0.01", toy_folder, "--seed-pairs", "run", "--gold", "run"))
    assert ended.code == 0, ended.err
    left = sum(lines_of(mined, row)[0] == changed + 1 for row in range(3))
    assert ended.err.count(f"{left} judged pair") == 1 and "left out" in ended.err
    (tmp_path / "plain.tsv").write_text("a\tb\nc\td\n")
    assert command("pairs", "judge", "plain.tsv", 2, 2, "accept").code == 0
    ended = command(*_mine("new/", "0.01", toy_folder, "--force", "--seed-pairs", "plain.tsv"))
    assert ended.code == 1 and "a pair of a file without lines was judged" in ended.err
    (tmp_path / "two words.tsv").write_text("a\tb\nc\td\n")
    said = command("pairs", "judge", "two words.tsv").out
    assert "at random: xmine pairs judge 'two words.tsv' --sample 50" in said


UNCLEAR = [
    *((3, 4), (3, 4, "accept", "-o", "a.tsv"), (3, 4, "accept", "--sample", 9)),
    *(("--sample", 9, "--report"), ("--shared", "20%")),
]


def test_a_wrong_call_says_what_is_wrong(command: Command, mined: Path) -> None:
    for words, said in (
        (("judge", "run", 1, 1, "perhaps"), "no pair of line 1 and line 1"),
        (("judge", "run", *lines_of(mined, 0), "perhaps"), "'perhaps' is no judgement"),
        (("judge", "run", "--rejected"), "--rejected without a file"),
        *((("judge", "run", *words), "which pair is judged, and how?") for words in UNCLEAR),
        (("cut", "run", "--write"), "--write without a cut"),
        (("cut", "run", "--at", "nan"), "a cut at nan"),
        (("cut", "run", "--at", "1.3"), "mine with --threshold 1.3"),
        (("cut", "run", "--at", "-0.1", "--write"), "give a number from 0 to 1"),
    ):
        ended = command("pairs", *words)
        assert ended.code == 2 and said in ended.err and not ended.touched
    assert command("mine", "en.txt", "zh.txt", "--seed-pairs", "run").code == 1


def test_a_cut_is_told_with_the_pairs_around_it(command: Command, mined: Path) -> None:
    ended = command("pairs", "cut", "run", "--at", "0.5", "-n", 2)
    probs = [float(row[6]) for row in ended.rows]
    assert len(probs) == 4 and probs == sorted(probs, reverse=True)
    assert probs[1] >= 0.5 > probs[2] and not ended.touched
    marks = [row.split("\t")[-1] for row in ended.out.splitlines()]
    assert (
        marks == ["kept", "≥", "≥", "<", "<"]
        and "--- the cut, 0.5: ≥ above it is kept" in ended.err
    )
    kept = int(open_pairs(mined).kept(0.5).sum())
    assert f"--min-prob 0.5 keeps {kept} " in ended.err
    every = [row[-1] for row in command("pairs", "cut", "run", "--at", "0.5", "-n", 999).rows]
    assert every == ["≥"] * kept + ["<"] * (len(every) - kept) and len(every) != 2 * kept
    facts = json.loads(command("pairs", "cut", "run", "--at", "0.5", "-n", 2, "--json").out)
    assert (facts["pairs"], facts["flag"]) == (kept, "--min-prob 0.5")
    kept_and_not = [[each["kept"] for each in facts[name]] for name in ("above", "below")]
    assert kept_and_not == [[True, True], [False, False]]
    assert sum(each["pairs"] for each in facts["histogram"]) == facts["eligible"]


def test_what_top_left_out_comes_back_and_what_is_known_to_be_wrong_never_does(
    command: Command, mined: Path, toy_folder: Path
) -> None:
    wrong = [lines_of(mined, row) for row in (0, 4, 12)]
    for lines in wrong:
        command("pairs", "judge", "run", *lines, "reject")
    for row in (1, 2, 3, 5):
        command("pairs", "judge", "run", *lines_of(mined, row), "accept")
    words = ["mine", "en.txt", "zh.txt", "-o", "new/", "--model", str(toy_folder)]
    ended = command(*words, "--top", "2", "--seed-pairs", "run")
    assert ended.code == 0 and "dropped: known to be wrong 3" in ended.err
    run = mined.parent / "new"
    opened = open_pairs(run)
    assert opened.cut is not None and opened.ranks is not None
    equal = int((opened.allowed & (opened.ranks >= opened.cut)).sum())
    assert equal > 2 == int(opened.kept(opened.cut).sum())  # the best are equally probable
    cut, view = opened.cut, View(opened, Judgements.open(opened).said)
    ended = command("pairs", "cut", "new", "-n", 0)
    assert f"a cut at {cut!r} keeps 2 " in ended.err
    more = "1 pair" if equal == 3 else f"{equal - 2} pairs"
    assert f"--min-prob {cut!r} takes back {more} that --top left out" in ended.err
    ended = command("pairs", "cut", "new", "-n", 0, "--at", cut, "--write")
    assert f"new: cut, --min-prob {cut!r} keeps {equal} " in ended.err
    again = read_again(opened)
    assert view.is_replaced  # by the app itself, or by another process
    view.reopened(again)
    assert not view.is_replaced
    assert int(again.kept(again.cut).sum()) == equal and again.source is opened.source
    with pytest.raises(FileError, match="other pairs were mined meanwhile"):
        read_again(opened.with_columns(source=opened.sources[::-1].copy()))
    ended = command("pairs", "cut", "new", "-n", 0, "--at", "0", "--write")
    assert f"keeps {len(opened) - 3} " in ended.err
    kept = list(read_pairs(run / "pairs.parquet"))
    assert len(kept) == len(opened) - 3
    assert not {(pair.source_line, pair.target_line) for pair in kept} & set(wrong)
    assert summary(run)["dropped"] == {"known to be wrong": 3}


@pytest.mark.parametrize(
    "options",
    [("--drop", "number,high"), ("--threshold", "1.65"), ()],
    ids=["fewer", "higher", "plain"],
)
def test_a_cut_that_is_written_is_what_mining_with_it_gives(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    first = ("--precision", "0.9", "--top", "2") if "--drop" in options else ("--top", "5")
    model = ("--model", str(toy_folder))
    files = ("mine", "en.txt", "zh.txt")
    assert command(*files, "-o", "run/", *first, *options, *model).code == 0
    assert command(*files, "-o", "other/", "--min-prob", "0.5", *options, *model).code == 0
    before = contents(tmp_path / "run")
    ended = command("pairs", "cut", "run", "--at", "0.5", "--write", "-n", 0)
    assert ended.code == 0 and "run: cut, --min-prob 0.5 keeps " in ended.err
    assert ended.touched == {f"run/{each}" for each in ("pairs.parquet", "run.toml")} | {
        "run/candidates.parquet",
        "run/summary.json",
        "run/log.txt",
    }
    written, mined = contents(tmp_path / "run"), contents(tmp_path / "other")
    assert written == mined and written != before
    said, expected = summary(tmp_path / "run"), summary(tmp_path / "other")
    assert list(said) == list(expected)
    for name in ("precision", "precision_interval", "other_cuts"):
        assert _flat(said.pop(name)) == pytest.approx(_flat(expected.pop(name)), abs=1e-6)
    assert said == expected
    assert open_pairs(tmp_path / "run").cut == 0.5
    again = command(*files, "-o", "run/", "--min-prob", "0.5", *options, *model)
    assert again.code == 0, again.err  # the run is complete
    assert contents(tmp_path / "run") == written


def _flat(value: object) -> list[float]:
    """The numbers of lists and objects, one after the other."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in _flat(each)]
    if isinstance(value, list):
        return [number for each in value for number in _flat(each)]
    return [float(value)] if isinstance(value, int | float) else []


def test_a_killed_write_leaves_a_run_that_opens_and_can_be_cut(mined: Path, tmp_path: Path) -> None:
    shutil.copytree(mined, tmp_path / "whole")
    write_cut(tmp_path / "whole", 0.5)
    runs = [Path(shutil.copytree(mined, tmp_path / f"killed-{each}")) for each in range(3)]
    subprocess.run([sys.executable, "-c", KILLED_AT, *map(str, runs)], check=True)
    for run in runs:
        assert len(open_pairs(run)) == len(open_pairs(mined))
        write_cut(run, 0.5)
        assert open_pairs(run).cut == 0.5
        names = {path for path in contents(run) if not path.endswith(".partial")}
        assert {name: contents(run)[name] for name in names} == contents(tmp_path / "whole")


def test_a_run_that_is_mined_into_is_not_cut(mined: Path) -> None:
    before = contents(mined)
    with alone_in(mined), pytest.raises(FileError, match="another process is mining into it"):
        write_cut(mined, 0.5)
    assert contents(mined) == before
