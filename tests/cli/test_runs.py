"""Runs as their users meet them: kept, gone on with, refused, judged again."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.toys.command import Command, Toy
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.pipeline import mine

MINE = ("mine", "en.txt", "zh.txt", "-o", "run/")
KEPT = {
    "run.toml",
    "source.parquet",
    "source.repeats.parquet",
    "source.npy",
    "target.parquet",
    "target.repeats.parquet",
    "target.npy",
    "neighbours/targets.npy",
    "neighbours/target_cosines.npy",
    "neighbours/sources.npy",
    "neighbours/source_cosines.npy",
    "neighbours/search.toml",
    *(f"parts/{name}-KEY-0.npy" for name in ("vectors", "known", "tokens", "lengths")),
    "parts/base-KEY-0.npy",
    *(
        f"parts/{rows}{name}-KEY-0.npy"
        for name in ("compared", "matches", "same", "stretches", "untranslated")
        for rows in ("", "rows-of-")
    ),
    "parts/keys-source-KEY-0.npy",
    "parts/keys-target-KEY-0.npy",
    "parts/lines-source-KEY-0.npy",
    "parts/lines-target-KEY-0.npy",
    "parts/result-KEY-0.npy",
    "candidates.parquet",
    "pairs.parquet",
    "summary.json",
    "log.txt",
}


def files(run: Path) -> dict[str, bytes]:
    """Everything but the log and the dates of pairs, which have times."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file()
        and path.name not in ("log.txt", "since.parquet", ".lock")
        and not path.name.startswith("result-")  # named by the command
    }


def results(run: Path) -> dict[str, bytes]:
    """Leave out the steps, which depend on what was mined before."""
    return {name: data for name, data in files(run).items() if not name.startswith("parts/")}


@pytest.fixture
def mined(mined_once: Callable[..., Path]) -> Path:
    """A run that is done."""
    return mined_once()


def test_a_run_keeps_everything_and_nothing_else(mined: Path) -> None:
    there = {str(path.relative_to(mined)) for path in mined.rglob("*") if path.is_file()}
    assert {re.sub("(-[0-9a-f]{16})+-", "-KEY-", name) for name in there} == KEPT | {".lock"}
    log = (mined / "log.txt").read_text()
    assert "reading en.txt" in log and "searching 60 x 60 vectors" in log and "pairs from" in log


def test_its_pairs_are_those_of_stdout(
    command: Command, mined: Path, toy_folder: Path, tmp_path: Path
) -> None:
    plain = command("mine", "en.txt", "zh.txt", "--model", toy_folder)
    assert command("convert", "run/", "pairs.tsv").code == 0
    assert (tmp_path / "pairs.tsv").read_text(encoding="utf-8") == plain.out
    head = command("pairs", "list", "run", "-n", 3)
    assert head.rows == plain.rows[:3]


def test_the_library_writes_the_files_of_the_command(mined: Path, toy_folder: Path) -> None:
    mine("en.txt", "zh.txt", SentenceEncoder.load(toy_folder), run="other")
    assert files(mined.parent / "other") == files(mined)


def test_a_file_whose_name_is_no_utf_8_is_mined_and_a_folder_of_such_a_name_refused(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    name = os.fsdecode(b"bad\xff.txt")
    Path("en.txt").rename(name)
    mine = ["mine", name, "zh.txt", "--model", toy_folder, "-o"]
    assert [command(*mine, "run/").code for _ in range(2)] == [0, 0]
    assert json.loads(Path("run/summary.json").read_text("utf-8"))["source"]["file"] == "bad?.txt"
    ended = command(*mine, os.fsdecode(b"r\xff/"))
    assert ended.code == 1 and ended.err.startswith("xmine: r?: the name is not UTF-8")
    assert command(*mine, "").err.startswith("xmine: -o: the name is empty")


def test_another_option_makes_what_depends_on_it(
    command: Command, mined: Path, toy_folder: Path
) -> None:
    before = files(mined)
    assert command(*MINE, "--model", toy_folder, "--top", "3").code == 0
    after = files(mined)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"run.toml", "candidates.parquet", "pairs.parquet", "summary.json"}
    assert (mined / "log.txt").read_text().count("searching") == 1
    assert command(*MINE, "--model", toy_folder, "-k", "6").code == 0
    assert (mined / "log.txt").read_text().count("searching") == 2
    assert (mined / "log.txt").read_text().count("encoding") == 2  # of the first time
    command("mine", "en.txt", "zh.txt", "-o", "new/", "--model", toy_folder, "-k", "6")
    assert files(mined) == files(mined.parent / "new")


@pytest.mark.parametrize("given", ["en.txt", "-"])
def test_an_input_that_has_grown_is_mined_again(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path, given: str
) -> None:
    text = "☃\n".encode() + (tmp_path / "en.txt").read_bytes()  # a line that nobody knows
    for more in ("", "bade fifi golu\n"):
        (tmp_path / "en.txt").write_bytes(text + more.encode())
        piped = {"stdin": text + more.encode()} if given == "-" else {}
        for folder in ("run/", f"new{len(more)}/"):
            words = ("mine", given, "zh.txt", "-o", folder, "--model", toy_folder)
            assert command(*words, **piped).code == 0
    assert results(tmp_path / "run") == results(tmp_path / "new15")


def test_without_a_folder_nothing_stays(
    command: Command,
    toy_files: Toy,
    toy_folder: Path,
    tmp_path: Path,
    cache_of_its_own: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    ended = command("mine", "en.txt", "zh.txt", "--model", toy_folder)
    assert ended.code == 0 and not ended.touched
    assert not cache_of_its_own.exists()


def test_vectors_that_were_cut_short_are_made_again(
    command: Command, mined: Path, toy_folder: Path
) -> None:
    before = files(mined)
    (vectors,) = sorted(mined.glob("parts/vectors-*"))[:1]
    vectors.write_bytes(vectors.read_bytes()[:-100])
    ended = command(*MINE, "--model", toy_folder)
    said = f"run/parts/{vectors.name}: changed since it was written: made again"
    assert ended.code == 0 and f"xmine: warning: {said}\n" in ended.err
    assert said in (mined / "log.txt").read_text()
    assert files(mined) == before
    assert "made again" not in command(*MINE, "--model", toy_folder).err
    assert files(mined) == before


def test_unknown_lines_are_left_out_and_it_goes_on(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path
) -> None:
    source = tmp_path / "en.txt"
    source.write_text("☃☃\n" + source.read_text(encoding="utf-8") + "☃ ☂\n", encoding="utf-8")
    assert command(*MINE, "--model", toy_folder).code == 0
    run = tmp_path / "run"
    before = files(run)
    assert len(np.load(run / "source.npy")) == 60
    assert json.loads(before["summary.json"])["source"]["unknown"] == 2
    (run / "source.npy").unlink()
    shutil.rmtree(run / "neighbours")
    assert command(*MINE, "--model", toy_folder).code == 0
    assert files(run) == before


def test_warnings_do_not_depend_on_who_reads_the_tables(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path
) -> None:
    text = (tmp_path / "en.txt").read_text(encoding="utf-8")
    (tmp_path / "zh.txt").write_text(text + "☃☃\n", encoding="utf-8")
    assert "the same text" in command(*MINE, "--model", toy_folder).err
    before = files(tmp_path / "run")
    assert "the same text" in command(*MINE, "--model", toy_folder).err
    assert files(tmp_path / "run") == before


def test_what_a_kill_left_behind_is_gone(command: Command, mined: Path, toy_folder: Path) -> None:
    before = files(mined)
    (mined / ".pairs.parquet.abc.partial").write_text("half")
    for name in ("tile-abc-best-0-0-0.npy", "vectors-abc-0.npy", ".vectors-0.npy.abc.partial"):
        (mined / "parts" / name).write_text("of a run that came to its end")
    assert command(*MINE, "--model", toy_folder).code == 0
    assert files(mined) == before


def test_a_run_goes_on_from_elsewhere(
    command: Command, mined: Path, toy_folder: Path, tmp_path: Path
) -> None:
    before = files(mined)
    mined.rename(tmp_path / "moved run")
    (tmp_path / "moved run" / "pairs.parquet").unlink()
    source, target = tmp_path / "en.txt", tmp_path / "zh.txt"
    ended = command("mine", source, target, "-o", "moved run", "--model", f"{toy_folder}/")
    assert ended.code == 0, ended.err
    after = files(tmp_path / "moved run")
    named = {"summary.json", "run.toml", "source.parquet", "target.parquet"}  # have the names
    changed = {name for name in before if after[name] != before[name]}
    assert after.keys() == before.keys() and changed <= named


def test_what_is_there_needs_no_room(
    command: Command, mined: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(mined)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    assert command(*MINE, "--model", toy_folder).code == 0
    ended = command("mine", "en.txt", "zh.txt", "-o", "other/", "--model", toy_folder)
    assert ended.code == 1 and "10 bytes are free" in ended.err


@pytest.mark.parametrize(
    ("output", "said", "hint"),
    [
        ("no/run/", "no: no such folder", "mkdir -p no"),
        ("en.txt/", "en.txt: is a file", "give another name"),
        ("en", "en: is a file", "give another name"),
    ],
)
def test_a_folder_that_cannot_be_is_refused_before_the_work(
    command: Command, toy_files: Toy, output: str, said: str, hint: str
) -> None:
    Path("en").touch()
    ended = command("mine", "en.txt", "zh.txt", "-o", output)
    assert ended.code != 0 and not ended.touched and not ended.estimate
    assert ended.err.startswith(f"xmine: {said}\nhint: ") and hint in ended.err


def test_what_is_read_is_not_in_the_run(command: Command, mined: Path) -> None:
    ended = command("mine", "run/source.parquet:text", "zh.txt", "-o", "run/", "--force")
    assert ended.code == 2 and not ended.touched
    assert ended.err == "xmine: run/source.parquet: is in run/\nhint: give another folder\n"


def test_score_has_no_runs_and_says_so_before_the_work(
    command: Command, mined: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "xmine.mining.aligned.score_aligned", lambda *_, **__: pytest.fail("too late")
    )
    ended = command("score", "en.txt", "zh.txt", "-o", "run/")
    assert ended.code == 2 and "run/: a folder, not a file of pairs" in ended.err


def test_a_run_without_pairs_is_named(command: Command, mined: Path) -> None:
    (mined / "pairs.parquet").unlink()
    ended = command("convert", "run/", "pairs.tsv")
    assert ended.code == 1
    assert (
        ended.err == "xmine: run/: a run that has no pairs yet\nhint: mine into it again to go on\n"
    )


def test_standard_input_is_read_again_for_another_encoder(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path
) -> None:
    """The table lacks lines that the first encoder did not know; the second may know these."""
    for name, prompt in (("run", "say: "), ("new", "tell: ")):
        piped = ("mine", "-", "zh.txt", "-o", f"{name}/", "--model", toy_folder)
        text = (tmp_path / "en.txt").read_bytes()
        if name == "run":
            Path("own.toml").write_text(f'src_prompt = "{prompt}"')
            assert command(*piped, "--options", "own.toml", stdin=text).code == 0
        Path("own.toml").write_text('src_prompt = "tell: "')
        ended = command(*piped, "--options", "own.toml", stdin=text)
        assert ended.code == 0, ended.err
    assert results(tmp_path / "run") == results(tmp_path / "new")


def test_given_vectors_go_through_a_run(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path
) -> None:
    for name in ("en", "zh"):
        assert (
            command("encode", f"{name}.txt", "-o", f"{name}.npy", "--model", toy_folder).code == 0
        )
    given = (*MINE, "--src-vectors", "en.npy", "--tgt-vectors", "zh.npy")
    assert command(*given).code == 0
    before = files(tmp_path / "run")
    assert command(*given).code == 0
    assert files(tmp_path / "run") == before
    np.save(tmp_path / "zh.npy", np.load(tmp_path / "zh.npy")[::-1])
    assert command(*given).code == 0
    after = files(tmp_path / "run")
    assert after["source.npy"] == before["source.npy"]
    assert after["target.npy"] != before["target.npy"]


def test_a_folder_with_other_files_is_refused(
    command: Command, toy_files: Toy, toy_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "one.tex").write_text("mine")
    ended = command("mine", "en.txt", "zh.txt", "-o", "thesis/", "--model", toy_folder, "--force")
    assert ended.code == 1 and "a folder with other files in it" in ended.err
    assert not ended.touched


def test_a_dry_run_writes_nothing(command: Command, toy_files: Toy, toy_folder: Path) -> None:
    ended = command(*MINE, "--model", toy_folder, "--dry-run")
    assert ended.code == 0 and not ended.touched
    assert "estimate: 60 x 60 lines, exact search, " in ended.estimate
    told = json.loads(command(*MINE, "--model", toy_folder, "--dry-run", "--json").out)
    assert told["lines"] == [60, 60] and told["vectors"] == [60, 60, 32]
    assert told["memory"] > 0 and told["seconds"] > 0


def test_what_does_not_fit_is_refused_before_it_starts(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    ended = command(*MINE, "--model", toy_folder, "--max-memory", "1M")
    assert ended.code == 1 and not ended.touched
    # As much as this process has grown to counts.
    assert re.search(r"--max-memory is 1.0 MB\nhint: --max-memory \dG allows it", ended.err)


def test_a_full_disk_stops_a_run_and_room_lets_it_go_on(
    command: Command, mined: Path, toy_folder: Path, tmp_path: Path
) -> None:
    mine = [sys.executable, "-m", "xmine", *MINE, "--model", str(toy_folder)]
    expected = files(mined)
    shutil.rmtree(mined)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))  # bytes: some files fit

    ended = subprocess.run(mine, cwd=tmp_path, capture_output=True, timeout=60, preexec_fn=limit)
    assert ended.returncode == 1
    assert b"File too large" in ended.stderr and b"Traceback" not in ended.stderr
    assert command(*MINE, "--model", toy_folder).code == 0
    assert files(mined) == expected
