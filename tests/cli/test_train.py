"""xmine train, from the command line to the files."""

import json
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.toys.command import Command, Toy
from tests.toys.grids import mostly_long
from xmine.cli.console import Console
from xmine.cli.train.run import _say_how_to_go_on
from xmine.encoders.encoder import SentenceEncoder
from xmine.files.lock import held
from xmine.pairs.io import ParallelText
from xmine.progress import Progress, Report
from xmine.trainer.methods import METHODS

# Of a trained encoder, which needs no vocabulary of its own.
FEW = "--batch-size 64 --epochs 2 --held-out 100 --threads 1".split()
SMALL = "--vocabulary-size 500 --dim 32 --batch-size 64 --epochs 2 --held-out 100".split()


@contextmanager
def interrupted_at(step: int) -> Iterator[list[int]]:
    """Press Ctrl-C after a step of training, and list the steps that are taken."""
    taken: list[int] = []

    def press(progress: Progress) -> None:
        if progress.stage == "training":
            taken.append(progress.done)
            if progress.done == step:
                signal.raise_signal(signal.SIGINT)

    @contextmanager
    def pressing(_: Console) -> Iterator[Report]:
        yield press

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Console, "progress", pressing)
        yield taken


@pytest.fixture
def pairs_file(tmp_path: Path, toy_pairs: ParallelText) -> Path:
    rows = zip(toy_pairs.sources, toy_pairs.targets, strict=True)
    file = tmp_path / "pairs.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_train_makes_an_encoder_that_mines_and_its_options_can_be_given_again(
    command: Command, tmp_path: Path, pairs_file: Path, toy_files: Toy
) -> None:
    ended = command("train", "pairs.tsv", "-o", "new", *SMALL, "--exclude", "en.txt", "--json")
    assert (ended.code, ended.err) == (0, "")
    facts = json.loads(ended.out)
    assert facts["output"] == "new"
    assert facts["pairs"] + facts["excluded"] == 1500 - 100
    assert {path.split("/")[0] for path in ended.touched} == {"new"}
    mined = command("mine", "en.txt", "zh.txt", "--model", "new", "--threshold", "-inf")
    assert mined.code == 0 and mined.out.count("\n") > 20

    there = command("train", "pairs.tsv", "-o", "new", *SMALL)
    assert there.err.startswith("xmine: new: exists already\nhint: ")
    assert (there.code, there.touched) == (1, set())
    again = ["train", "pairs.tsv", "-o", "again", "--options", "new/options.toml", "--epochs", 1]
    ended = command(*again)
    assert ended.code == 0
    assert f"\nxmine: {facts['excluded']:,} rows left out: " in ended.err
    assert f"again: trained on {facts['pairs']:,} rows in " in ended.err
    assert SentenceEncoder.load(tmp_path / "again").dim == 32
    assert "epochs = 1\n" in Path(tmp_path, "again", "options.toml").read_text()


def test_training_data_that_cannot_be_used_leaves_nothing(
    command: Command, tmp_path: Path, pairs_file: Path
) -> None:
    Path(tmp_path, "one.tsv").write_text("a\tb\n\nalone\n")
    Path(tmp_path, "none.tsv").write_text("a\t\n\tb\n")
    Path(tmp_path, "few.tsv").write_text("a\tb\n" * 5)
    for arguments, message in {
        ("one.tsv",): "one.tsv:3: 1 column; the first line has 2\nhint: name ",
        ("none.tsv",): "none.tsv: no pairs in it",
        ("few.tsv",): "",
        ("nowhere.tsv",): "nowhere.tsv: no such file",
        ("pairs.tsv", "--exclude", "nowhere.txt"): "nowhere.txt: no such file",
        ("pairs.tsv", "--source-weight", "news=2"): "",
        ("pairs.tsv", "--resume", "--held-out", "5000"): "",
    }.items():
        ended = command("train", *arguments, "-o", "new")
        assert ended.err.startswith(f"xmine: {message}"), arguments
        assert "internal error" not in ended.err
        assert (ended.code, ended.out, ended.touched) == (1, "", set())


def test_a_run_that_is_interrupted_says_how_to_go_on_and_does(
    command: Command, pairs_file: Path, toy_folder: Path
) -> None:
    """Ctrl-C in the middle of a pass: nothing is lost, and the printed command is all one needs."""
    lines = pairs_file.read_text("utf-8").splitlines()
    named = [f"{line}\t{'notes' if at % 9 == 0 else 'web'}" for at, line in enumerate(lines)]
    Path("the pairs.tsv").write_text("\n".join(["source\ttarget\torigin", *named]), "utf-8")
    Path("own.toml").write_text('held_out_origins = ["notes"]', encoding="utf-8")
    how = ["--encoder", toy_folder, "--options", "own.toml", *FEW]
    told = command("train", "the pairs.tsv", "-o", "whole", *how).err
    rows = int(re.search(r"on (\d+) rows", told.replace(",", ""))[1])  # type: ignore[index]
    assert rows <= len(lines) * 8 / 9 - 100, "neither notes nor held-out pairs are seen"
    train = ["train", "the pairs.tsv", "-o", "new", *how]
    with interrupted_at(5):
        ended = command(*train)
    said, _, last = ended.err.partition("\n")
    assert (ended.code, last) == (130, "xmine: interrupted\n")
    words = shlex.split(said.removeprefix("xmine: go on with: "))
    assert words[:3] == ["xmine", "train", "the pairs.tsv"]

    refused = command(*train)
    assert refused.err.startswith(
        "xmine: new.training: a run that was stopped is there\nhint: --re"
    )
    assert (refused.code, refused.touched) == (1, set())
    other = command(*words[1:], "--seed", 9)
    assert other.err.startswith("xmine: new.training: the run there has other options or other da")
    assert (other.code, other.touched) == (1, set())
    dry = command(*words[1:], "--seed", 9, "--dry-run")
    assert (dry.code, dry.err) == (1, other.err), "also before a run"
    dry = command(*words[1:], "--dry-run")
    assert dry.err.startswith("xmine: new.training: resumed at its last checkpoint\n")
    assert dry.code == 0
    resumed = command(*words[1:])
    assert resumed.code == 0
    assert {path.split("/")[0] for path in resumed.touched} == {"new", "new.training"}
    assert not Path("new.training").exists()
    weights = [Path(each, "model.safetensors").read_bytes() for each in ("new", "whole")]
    assert weights[0] == weights[1]
    with interrupted_at(5):
        ended = command(*train, "--force")
    words = shlex.split(ended.err.partition("\n")[0].removeprefix("xmine: go on with: "))
    assert command(*words[1:], "--dry-run").code == 0, "where the encoder is to be replaced"


def test_on_several_nodes_no_command_of_one_node_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.training").mkdir()
    (tmp_path / "new.training" / "options.toml").touch()
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    _say_how_to_go_on(Console(), "moco", tmp_path / "new", {"pairs": "pairs.tsv"})
    told = "xmine: go on with: the same command on all nodes, with --resume auto\n"
    assert capsys.readouterr().err == told


def test_what_a_run_leaves(
    command: Command, pairs_file: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = command("train", "pairs.tsv", "-o", "new", "--encoder", toy_folder, *FEW, "--epochs", 3)
    assert ended.estimate.startswith("xmine: after 3 steps of 63: ")
    left = {path.name for path in Path("new").iterdir()}
    assert {"README.md", "options.toml", "metrics.jsonl", "training.svg", "training.csv"} <= left
    assert "accuracy" in Path("new", "training.svg").read_text()
    head, *rows = Path("new", "training.csv").read_text().splitlines()
    assert head == "step,loss,accuracy"
    logged = map(json.loads, Path("new", "metrics.jsonl").read_text().splitlines())
    steps = dict.fromkeys(x["step"] for x in logged if x["step"])  # the last: loss, and measures
    assert [int(row.split(",")[0]) for row in rows] == list(steps) == [20, 21, 40, 42, 60, 63]
    assert rows[-1].split(",")[1] and "" in {row.split(",")[1] for row in rows}
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ended = command("train", "pairs.tsv", "-o", "bare", "--encoder", toy_folder, *FEW)
    assert ended.err.startswith("xmine: no picture of the run: a picture needs matplotlib")
    assert not list(Path("bare").glob("training.*"))


def test_force_replaces_an_encoder_and_nothing_else(
    command: Command, tmp_path: Path, pairs_file: Path
) -> None:
    Path(tmp_path, "letters").mkdir()
    Path(tmp_path, "letters", "dear.txt").write_text("kept")
    for output in ("letters", "pairs.tsv", "."):
        ended = command("train", "pairs.tsv", "-o", output, "--force", *SMALL)
        assert ended.err.startswith(f"xmine: {output}: exists and is not an encoder of xmine")
        assert (ended.code, ended.touched) == (1, set())


def test_the_folder_of_the_shell_is_not_replaced(
    command: Command, tmp_path: Path, pairs_file: Path, toy_folder: Path
) -> None:
    shutil.copytree(toy_folder, tmp_path, dirs_exist_ok=True)
    ended = command("train", "pairs.tsv", "-o", ".", "--force", *SMALL)
    assert ended.err.startswith("xmine: .: is the folder that this command works in\nhint: ")
    assert (ended.code, ended.touched) == (1, set())


def test_force_replaces_two_encoders_and_a_folder_of_one(
    command: Command, tmp_path: Path, pairs_file: Path, toy_folder: Path
) -> None:
    for side in ("source", "target"):
        shutil.copytree(toy_folder, tmp_path / "two" / side)
    (tmp_path / "bare").mkdir()
    for name in ("xmine.json", "tokenizer.json"):
        shutil.copy(toy_folder / name, tmp_path / "bare")
    for output in ("two", "bare"):
        ended = command("train", "pairs.tsv", "-o", output, "--force", *SMALL)
        assert ended.code == 0, ended.err
        assert (tmp_path / output / "modules.json").exists()
        assert not (tmp_path / output / "source").exists()


def test_the_last_lines_have_retrieval_before_and_after_and_what_to_type_next(
    command: Command, pairs_file: Path, toy_folder: Path
) -> None:
    """Whole sentences and half of their tokens, which are harder to find a translation by."""
    last = (
        r"; ([\d.]+)% -> ([\d.]+)% of 100 held-out pairs retrieved, "
        r"([\d.]+)% -> ([\d.]+)% without half of the source's tokens\n"
        r"xmine: next: xmine mine (\S+) (\S+) --model (\S+)\n$"
    )
    ended = command("train", "pairs.tsv", "-o", "new", *SMALL)
    found = re.search(last, ended.err)
    assert found, ended.err
    before, after, *halves = map(float, found.groups()[:4])
    assert before < 20 < after and halves[0] < 20 < halves[1] < after
    assert found.groups()[4:] == ("en.txt", "zh.txt", "new/")
    ended = command("train", "pairs.tsv", "-o", "more", "--encoder", "new", *FEW, "--json")
    facts = json.loads(ended.out)
    assert facts["before"] == pytest.approx(after / 100, abs=0.0006)
    assert facts["before_halves"] == pytest.approx(halves[1] / 100, abs=0.0006)
    ended = command("train", "pairs.tsv", "-o", "most", "--encoder", toy_folder, *FEW)
    found = re.search(last, ended.err)
    assert found and found[1] == "100.0" and float(found[3]) < 90, ended.err


def test_an_encoder_that_is_worse_is_not_the_next_to_mine_with(
    command: Command, pairs_file: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.trainer.train.fell", lambda measures, pairs: pairs == 100)
    ended = command("train", "pairs.tsv", "-o", "new", *SMALL)
    assert ended.code == 0 and "retrieves less than the one" in ended.err
    assert "next: " not in ended.err


def test_what_to_type_next_names_prompts_that_are_no_default(
    command: Command, pairs_file: Path, toy_folder: Path, toy_files: Toy
) -> None:
    train = ["train", "pairs.tsv", "--encoder", toy_folder, *FEW, "--epochs", 1, "-o"]
    texts = 'src_prompt = "bade: "\ntgt_prompt = "{}"\n'
    Path("own.toml").write_text(texts.format("bade: "), encoding="utf-8")
    both = command(*train, "both", "--options", "own.toml")
    assert both.err.endswith("xmine: next: xmine mine en.txt zh.txt --model both/\n")
    Path("own.toml").write_text(texts.format("lulu: "), encoding="utf-8")
    other = command(*train, "other", "--options", "own.toml")
    said = 'xmine: for xmine.toml: src_prompt = "bade: ", tgt_prompt = "lulu: "\n'
    assert other.err.endswith(f"{said}xmine: next: xmine mine en.txt zh.txt --model other/\n")
    mined = [command("mine", "en.txt", "zh.txt", "--model", "both/").out]
    for prompt in ("bade: ", "lulu: "):
        Path("own.toml").write_text(f'src_prompt = "bade: "\ntgt_prompt = "{prompt}"\n')
        own = "--options", "own.toml"
        mined.append(command("mine", "en.txt", "zh.txt", "--model", "both/", *own).out)
    assert mined[0] == mined[1] != mined[2]


def test_a_training_that_has_ended_is_told_and_not_done_again(
    command: Command, pairs_file: Path, toy_folder: Path
) -> None:
    words = ["pairs.tsv", "-o", "new", "--resume", "auto", "--encoder", toy_folder, *FEW]
    assert command("train", *words).code == 0
    left = shutil.copytree("new", Path("new.training"))  # by a kill before it is removed
    files = {path: path.stat().st_mtime_ns for path in Path("new").rglob("*")}
    told = "xmine: new: trained already, with these options and data\n"
    assert command("train", *words, "--dry-run").code == 0 and left.exists()
    with held(left, "training in"):
        assert command("train", *words).err == told and left.exists()
    (left / "data.txt").write_text("of another run")
    assert command("train", *words).err == told and left.exists()
    shutil.copy("new/data.txt", left)
    (left / "options.toml").unlink()  # no run at all
    assert command("train", *words).err == told and left.exists()
    shutil.copy("new/options.toml", left)
    again = command("train", *words)
    assert (again.code, again.err) == (0, told)
    assert {path: path.stat().st_mtime_ns for path in Path("new").rglob("*")} == files
    assert not left.exists()
    in_the_way = "xmine: new: exists already\nhint: give another name, or --force to replace it\n"
    for others in (["--seed", 2], ["--method", "moco"], ["--exclude", "pairs.tsv"]):
        ended = command("train", *words, *others)
        assert (ended.code, ended.err) == (1, in_the_way), others
    with pairs_file.open("a", encoding="utf-8") as file:
        file.write("one more\t多一个\n")
    ended = command("train", *words)
    assert (ended.code, ended.err) == (1, in_the_way)
    assert {path: path.stat().st_mtime_ns for path in Path("new").rglob("*")} == files
    assert command("train", *words, "--force").code == 0
    assert Path("new", "data.txt").stat().st_mtime_ns != files[Path("new", "data.txt")]


def test_a_lone_resume_leaves_the_word_behind_it_alone(command: Command, pairs_file: Path) -> None:
    ended = command("train", "--resume", "pairs.tsv", "-o", "new", *SMALL)
    assert ended.err == (
        "xmine: new.training: no run to resume\n"
        "hint: leave --resume out to start one; --resume auto does either\n"
    )
    assert (ended.code, ended.touched) == (1, set())
    assert command("train", "--resume=never", "pairs.tsv", "-o", "new").code == 2


def test_texts_in_another_language_are_warned_of(
    command: Command, tmp_path: Path, pairs_file: Path
) -> None:
    lines = pairs_file.read_text(encoding="utf-8").splitlines()
    Path("zh.txt").write_text("\n".join(each.split("\t")[1] for each in lines[:300]))
    Path("ru.txt").write_text("Паром уходит в полдень, и никто его не ждёт.\n" * 300)
    words = ["train", *(f"--texts={each}.txt" for each in ("ru", "zh", "ru")), "-o", "new"]
    ended = command(*words, "--encoder", "embedded", "--dry-run")
    told = "xmine: warning: ru.txt: does not look like English or Chinese (--languages)\n"
    assert ended.err.count(told) == 2 and "zh.txt" not in ended.err and ended.code == 0


def test_a_file_of_triplets_is_given_once(command: Command) -> None:
    ended = command("train", "--triplets", "en.tsv", "--triplets", "en.tsv", "-o", "new")
    assert ended.err.startswith("xmine: --triplets: one file twice\n") and ended.code == 2


def test_few_pairs_start_from_the_embedded_encoder_and_the_estimate_says_so(
    command: Command, pairs_file: Path
) -> None:
    """Also in a language that the encoder does not know; with --encoder, nothing is said."""
    words = ["train", "pairs.tsv", "-o", "new", "--dry-run"]
    told = "xmine: 1,500 pairs are few: training starts from the embedded encoder"
    assert command(*words).err == f"{told}; --encoder scratch makes a new one\n"
    assert json.loads(command(*words, "--json").out)["encoder"] == "embedded"
    ended = command(*words, "--languages", "en,sv")
    assert ended.err == (
        f"{told}, which knows no Swedish (--extend teaches it); --encoder scratch makes a "
        "new one\n"
        "xmine: warning: pairs.tsv, second column: does not look like Swedish (--languages sv)\n"
    )
    assert command(*words, "--encoder", "embedded").err == ""
    few = (
        "xmine: warning: 1,500 rows are few to train an encoder from scratch: --encoder embedded, "
    )
    assert command(*words, "--encoder", "scratch").err.startswith(few)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", mostly_long([1, 3, 10], usual=[1]))
def test_what_cannot_be_trained_on_is_refused_at_once_and_the_rest_is_trained_on(
    command: Command, pairs_file: Path, toy_folder: Path, method: str, count: int
) -> None:
    rows = pairs_file.read_text(encoding="utf-8").splitlines(keepends=True)
    Path("few.tsv").write_text("".join(rows[:count]), encoding="utf-8")
    given = {"transaug": ["--teacher", toy_folder, "--dim", 32]}
    more = given.get(method, ["--encoder", toy_folder])
    words = ["train", "few.tsv", "-o", "new", "--method", method, "--threads", 1, *more]
    dry = command(*words, "--dry-run")
    ended = command(*words)
    needed = 4 if method == "msimcse" else 6  # 2 held out; a queue has a quarter of the others
    if count < needed:
        assert f"xmine: {min(count, 3)} " in dry.err and " too few " in dry.err
        assert "\nhint: give more pairs" in dry.err
        assert (ended.err, ended.code, ended.touched) == (dry.err, 1, set())
    else:
        assert (dry.code, ended.code) == (0, 0), ended.err


def test_a_dry_run_refuses_what_training_would(
    command: Command, pairs_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pairs_file.read_text(encoding="utf-8").splitlines(keepends=True)
    rows = rows[:1] * 300 + rows
    Path("repeated.tsv").write_text("".join(rows[:500]), encoding="utf-8")
    for words, message in {
        ("pairs.tsv", "--vocabulary-size", 20): "no vocabulary of 20 tokens from 2,500 sentences",
        ("pairs.tsv", "--dev", "nowhere.tsv"): "nowhere.tsv: no such file",
        ("repeated.tsv", "--held-out", 210): "500 pairs are too few to hold 210 out",
    }.items():
        ended = command("train", *words, "-o", "new", "--dry-run")
        assert f"xmine: {message}" in ended.err, ended.err
        assert (ended.code, ended.touched) == (1, set())
    Path("triplets.tsv").write_text("".join(f"a {at}\tb {at}\tc {at}\n" for at in range(83)))
    ended = command("train", "--triplets", "triplets.tsv", "--held-out", 50, "-o", "new")
    assert "xmine: 83 triplets are too few to hold 50 out" in ended.err
    assert "give more triplets" in ended.err
    monkeypatch.setitem(sys.modules, "opencc", None)
    ended = command("train", "pairs.tsv", "-o", "new", "--encoder", "scratch", "--dry-run")
    assert ended.err.startswith("xmine: xmine train needs opencc")
