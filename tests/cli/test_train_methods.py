"""xmine train --method: whose options, whose data, two encoders."""

import dataclasses
import json
import re
import shlex
import shutil
import sys
import tomllib
import types
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_train import interrupted_at
from tests.toys.command import Command, Toy
from tests.toys.grids import mostly_long
from xmine.cli.train.methods import PRESETS, shipped
from xmine.errors import OptionError
from xmine.options import flag, option
from xmine.pairs.io import ParallelText
from xmine.progress import Report
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS, Method
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.checkpoints import TrainingRun
from xmine.trainer.run.prepare import TrainedTowers, begin

FEW = "--batch-size 64 --epochs 1 --held-out 100 --threads 1".split()
SHARED = {field.name for field in dataclasses.fields(TrainingOptions)}


def own_options(method: str) -> set[str]:
    return {field.name for field in dataclasses.fields(METHODS[method].options)} - SHARED


@pytest.fixture
def data(tmp_path: Path, toy_pairs: ParallelText) -> Path:
    """Write pairs, triplets in two languages, labelled pairs and texts."""
    rows = list(zip(toy_pairs.sources, toy_pairs.targets, strict=True))
    files = {
        "pairs.tsv": [f"{x}\t{y}" for x, y in rows[:800]],
        "en.tsv": ["\t".join(x for x, _ in rows[at : at + 3]) for at in range(200)],
        "zh.tsv": ["\t".join(y for _, y in rows[at : at + 3]) for at in range(200)],
        "nli.tsv": [
            f"{x}\t{x}\t{('entailment', 'neutral')[at % 2]}" for at, (x, _) in enumerate(rows)
        ],
        "en.txt": [x for x, _ in rows[800:]],
    }
    for name, lines in files.items():
        Path(tmp_path, name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_help_without_a_method_lists_all(command: Command) -> None:
    text = command("train", "--help").out
    for name, method in METHODS.items():
        assert f"  {name}" in text and method.title in text
    assert "--queue-size" not in text and command("train", "pairs.tsv", "-h").out == text


def test_a_method_is_named_first_or_by_its_option_wherever_that_stands(
    command: Command, data: Path, toy_folder: Path
) -> None:
    Path("pairs.tsv").rename("moco")  # a file may have the name of a method
    files = ["moco", "-o", "new", "--encoder", toy_folder, *FEW, "--nli", "nli.tsv", "--dry-run"]
    taken = [
        command("train", *words).code
        for words in (
            ["moco", *files],
            ["--method", "moco", *files],
            [*files, "--method=moco"],
            ["--method", "msimcse", *files, "--method", "moco"],
            [*files[1:], "--method", "moco", "--", "moco"],
            ["msimcse", *files],
            ["--method", "msimcse", *files],
        )
    ]
    assert taken == [0] * 5 + [2] * 2  # msimcse learns from no labelled pairs


def test_two_methods_are_refused(command: Command, data: Path) -> None:
    ended = command("train", "moco", "pairs.tsv", "-o", "new", "--method", "msimcse")
    assert ended.err == "xmine: moco and --method msimcse\nhint: give one of them\n"
    assert (ended.code, ended.touched) == (2, set())
    Path(data, "moco").write_bytes(Path(data, "pairs.tsv").read_bytes())  # a file of that name
    words = ["-o", "new", "--encoder", "embedded", "--method", "msimcse", "--dry-run"]
    assert command("train", "moco", *words).code == 0


@pytest.mark.parametrize("name", METHODS)
def test_help_of_a_method_shows_its_options_before_those_of_all(
    command: Command, name: str
) -> None:
    for arguments in (("--method", name, "--help-all"), ("-h", f"--method={name}")):
        ended = command("train", *arguments)
        assert (ended.code, ended.err) == (0, "")
        assert METHODS[name].title in ended.out
        assert len(set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", ended.out, re.M))) <= 45
        kinds = METHODS[name].options.__dataclass_fields__
        own = [each for each in own_options(name) if not kinds[each].metadata["preset"]]
        places = {each: ended.out.find(f"  {flag(each)} ") for each in own}
        assert min(places.values()) > 0, places
        assert max(places.values()) < ended.out.find("  --batch-size ") % 2**31  # if at all


@pytest.mark.parametrize("name", METHODS)
def test_an_option_of_another_method_is_refused_and_says_whose_it_is(
    command: Command, data: Path, name: str
) -> None:
    others = set.union(*map(own_options, METHODS)) - own_options(name)
    assert others
    for other in sorted(others)[::5]:
        owners = ", ".join(each for each in METHODS if other in own_options(each))
        wrong = f"xmine: {flag(other)} is for {owners}; --method is {name}\nhint: "
        ended = command("train", "pairs.tsv", "--method", name, "-o", "new", flag(other), 1)
        assert ended.err.startswith(wrong)
        assert (ended.code, ended.out, ended.touched) == (2, "", set())
    Path("options.toml").write_text(f"{other} = 1\n")
    ended = command(*"train pairs.tsv -o new --options options.toml --method".split(), name)
    assert ended.err.startswith(wrong.replace("xmine: ", "xmine: options.toml:1: "))
    assert (ended.code, ended.touched) == (2, set())


def test_what_is_missing_or_of_no_use_is_told_before_work(command: Command, data: Path) -> None:
    for words, message in {
        "pairs.tsv --method magic -o new": "--method is 'magic'\nhint: choose from ",
        "pairs.tsv": "no -o: where is the encoder to go?\nhint: -o FOLDER/\n",
        "-o new --method moco --held-out 9": "--method moco has nothing to learn from: it takes PA",
        "--languages en,zh": "--method msimcse has nothing to learn from: it takes PAIRS, --trip",
        "transaug --teacher embedded": "--method transaug has nothing to learn from: it takes PA",
        "--preset transaug --seed 2": "--method transaug has nothing to learn from: it takes PAIRS",
        "pairs.tsv --method moco --texts en.txt -o new": "--texts is for msimcse",
        "pairs.tsv -o new --momentum=0.5": "--momentum is for moco",
        "pairs.tsv -o new --queue-size=5 --method=moco --queue-size=300": "",
    }.items():
        ended = command("train", *words.split())
        assert ended.err.startswith(f"xmine: {message}"), words
        assert "internal error" not in ended.err
        assert ended.code == (2 if message else 1), words
        assert ended.touched == set(), words


NO_DATA = "xmine: warning: no data given: this is a demonstration, in which a new encoder learns"


@pytest.mark.parametrize("method", mostly_long(METHODS, ["emma-x"]))
def test_without_data_a_demonstration_learns_from_what_ships(command: Command, method: str) -> None:
    ended = command("train", "--method", method)
    first, *_, told, last = ended.err.splitlines()
    assert first.startswith(f"{NO_DATA} from a hundred sentences")
    assert {each.split("/")[0] for each in ended.touched} == {f"xmine-demo-{method}"}
    found = re.search(r"; ([\d.]+)% -> ([\d.]+)% of 16 held-out pairs retrieved", told)
    assert found and 0 < float(found[1]) < 25 < float(found[2]) and ended.code == 0
    said, _, real = last.partition(": xmine ")
    assert said == "xmine: with pairs of your own"
    Path("pairs.tsv").write_text("".join(f"one {n}\tzwei {n}\n" for n in range(60)))
    assert command(*shlex.split(real), "--dry-run").code == 0


def test_a_demonstration_goes_on_and_is_made_again_where_it_is_the_same(command: Command) -> None:
    with interrupted_at(20):
        assert command("train").code == 130
    for words in ([], ["msimcse", "-q", "--seed", 1]):
        ended = command("train", *words)
        assert ended.err.startswith(NO_DATA) and ended.err.count("\n") == (1 if words else 6)
    assert ended.touched == {"xmine-demo-msimcse/metrics.jsonl"}  # which tells the speed
    ended = command("train", "--seed", 2)
    assert "\nxmine: xmine-demo-msimcse: exists already\nhint: give another name" in ended.err
    assert (ended.code, ended.touched) == (1, set())
    facts = json.loads(command("train", "--seed", 2, "-o", "new", "--json", "--dry-run").out)
    assert facts["encoder"] == "scratch" and "no data given" in facts["warnings"][0]


@pytest.mark.filterwarnings("ignore::xmine.errors.XmineWarning")
def test_what_ships_has_a_hundred_pairs_and_lines_that_have_none_of_them() -> None:
    data = shipped("emma-x")
    pairs = Corpus.read(data["pairs"]).pairs
    assert pairs and len(pairs) == 100 and pairs.said == ("en", "zh")
    assert {*Corpus.read(texts=data["texts"]).texts}.isdisjoint([*pairs.sources, *pairs.targets])
    assert [bool(shipped(each)["texts"]) for each in METHODS] == [False, False, False, True]


def test_files_that_cannot_be_used_are_named_with_the_line(command: Command, data: Path) -> None:
    Path("two.tsv").write_text("a\tb\tc\nd\te\n")
    Path("blank.tsv").write_text("a\t \tc\n")
    Path("empty.txt").write_text("")
    Path("lines.txt").write_text("\n\n")
    Path("maybe.tsv").write_text("a\tb\tneutral\na\tb\tmaybe\n")
    Path("maybe.jsonl").write_text('{"premise": "a", "hypothesis": "b"}\n')
    Path("short.tsv").write_text("a\tb\tc\n")
    for words, message in {
        "--triplets two.tsv": "two.tsv:2: 2 columns; three are needed: anchor, entailed and",
        "--triplets blank.tsv": "blank.tsv:1: column 2 is blank",
        "--triplets empty.txt": "empty.txt: the file is empty",
        "--triplets en.tsv --triplets short.tsv": "en.tsv has 200 triplets, short.tsv 1\nhint: ",
        "--texts empty.txt": "empty.txt: the file is empty",
        "--texts lines.txt": "lines.txt: no text in it",
        "--texts en.tsv": "en.tsv: a table of 3 columns\nhint: name the one with the text",
        "pairs.tsv --method moco --nli maybe.tsv": "maybe.tsv:2: no label is 'maybe'\nhint: lab",
        "pairs.tsv --method moco --nli maybe.jsonl": "maybe.jsonl:1: no field 'label', only ",
        "pairs.tsv --method moco --nli two.tsv": "two.tsv:1: no label is 'c'",
    }.items():
        ended = command("train", *words.split(), "-o", "new")
        assert ended.err.startswith(f"xmine: {message}"), words
        assert (ended.code, ended.out, ended.touched) == (1, "", set())


def test_a_dry_run_says_what_it_will_take_and_leaves_nothing(
    command: Command, data: Path, toy_folder: Path
) -> None:
    train = ["train", "pairs.tsv", "-o", "new", "--method", "moco", "--encoder", toy_folder, *FEW]
    ended = command(*train, "--dry-run")
    assert ended.estimate.startswith("xmine: after 3 steps of 10: ")
    assert (ended.code, ended.out, ended.err, ended.touched) == (0, "", "", set())
    ended = command(*train, "--dry-run", "--json", "--queue-size", 150)
    facts = json.loads(ended.out)
    assert facts["total"] == 10 and facts["seconds"] > 0 and facts["memory"] > 10**7
    assert (ended.err, ended.touched) == ("", set())
    ended = command(*train, "--dry-run", "--batch-size", 600)
    assert ended.estimate.startswith("xmine: after 1 step of 1: ") and not ended.touched


def test_one_language_triplets_and_text_train_an_encoder(
    command: Command, data: Path, toy_folder: Path
) -> None:
    sources = "--triplets en.tsv --triplets zh.tsv --texts en.txt --texts pairs.tsv:2".split()
    ended = command("train", *sources, "-o", "new", "--encoder", toy_folder, *FEW, "--json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out)["pairs"] == 200 + 700 + 800 - 100


def test_two_encoders_are_trained_and_mined_with(
    command: Command, data: Path, toy_folder: Path, toy_files: Toy
) -> None:
    shutil.copytree(toy_folder, "a")
    encoders = "--method moco --src-encoder a --tgt-encoder a --nli nli.tsv".split()
    ended = command("train", "pairs.tsv", "-o", "two", *encoders, *FEW)
    assert ended.code == 0
    assert "xmine: two/source and two/target: trained on 700 rows in " in ended.err
    left = {path.name for path in Path("two").iterdir()}
    assert {"source", "target", "options.toml", "metrics.jsonl"} <= left
    mined = command("mine", "en.txt", "zh.txt", "--model", "two", "-o", "run/", "--json")
    facts = json.loads(mined.out)
    assert mined.code == 0 and facts["pairs"] > 20
    models = [facts["vectors"][side]["model"] for side in ("source", "target")]
    assert models == ["two/source", "two/target"]
    there = command("train", "pairs.tsv", "-o", "two", *encoders, *FEW)
    assert there.err.startswith("xmine: two: exists already\nhint: ")
    again = ("train", "run/", "-o", "two", *encoders, "--force", *FEW[:4], "--dry-run")
    assert command(*again, "--held-out", "10").code == 0
    assert "pairs are too few to hold 2,000 out" in command(*again, "--held-out", "2000").err
    for arguments in (["encode", "en.txt", "-o", "x.npy"], ["search", "en.txt", "zh.txt"]):
        refused = command(*arguments, "--model", "two")
        assert refused.err.endswith(
            "hint: it holds an encoder for each side: give two/source or two/target\n"
        )
        assert (refused.code, refused.touched) == (1, set())
    assert command("encode", "en.txt", "-o", "x.npy", "--model", "two/source").code == 0


def test_options_that_the_data_leave_aside_are_told(
    command: Command, data: Path, toy_folder: Path
) -> None:
    Path("own.toml").write_text("nli_batch = 64", encoding="utf-8")
    words = ["pairs.tsv", "-o", "new", "--encoder", toy_folder, *FEW, "--dry-run"]
    words += ["--method", "moco", "--nli-weight", 0.2, "--options", "own.toml"]
    ended = command("train", *words)
    assert ended.err == "xmine: warning: --nli-weight, nli_batch: no effect without --nli\n"
    ended = command("train", *words, "--nli", "nli.tsv")
    assert (ended.code, ended.err) == (0, "")


def test_learning_rate_is_that_of_the_only_stage() -> None:
    for stage, of in (("distil", "of_distillation"), ("nli", "of_nli")):
        rates = {}
        for chosen in ("all", stage):
            options = TransaugOptions(stage=chosen, learning_rate=0.7)
            given = (0.2,) if stage == "nli" else ()
            rates[chosen] = getattr(options, of)(*given).learning_rate
        assert rates == {"all": 0.2 if stage == "nli" else 0.01, stage: 0.7}  # as by default


@dataclasses.dataclass(frozen=True, kw_only=True)
class FifthOptions(TrainingOptions):
    """A method that nobody has heard of."""

    spin: float = option(0.5, "Which way it turns.", min=0, max=1)


def test_a_fifth_method_is_a_file_an_options_class_and_a_line(
    command: Command, data: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []

    def train(
        corpus: Corpus, options: FifthOptions, run: TrainingRun, report: Report
    ) -> TrainedTowers:
        seen.append(options.spin)
        run.log(step=1200, stopped="it had enough")
        return TrainedTowers(
            {"": begin(options.encoder, options, [], run, report)}, {}, len(corpus.texts)
        )

    file = types.ModuleType("fifth")
    monkeypatch.setattr(file, "train", train, raising=False)
    monkeypatch.setitem(sys.modules, "fifth", file)
    monkeypatch.setitem(METHODS, "fifth", Method("a fifth", FifthOptions, "fifth", ("texts",)))
    shown = command("train", "--method", "fifth", "--help").out
    assert "--spin <float>" in shown and "0<=x<=1" in shown
    refused = command("train", "pairs.tsv", "-o", "new", "--spin", "1")
    assert refused.err.startswith("xmine: --spin is for fifth; --method is msimcse\n")
    more = ["-o", "new", "--method", "fifth", "--encoder", toy_folder, "--spin", "0.25"]
    assert command("train", "pairs.tsv", *more).err.startswith("xmine: PAIRS is for moco")
    ended = command("train", "--texts", "en.txt", *more)
    assert (ended.code, seen) == (0, [0.25])
    assert "xmine: training ended at step 1,200: it had enough\n" in ended.err
    assert "new: trained on 700 rows in " in ended.err
    assert "spin = 0.25\n" in Path("new", "options.toml").read_text()


def test_a_preset_names_the_place_of_each_number_and_every_option_is_of_its_method() -> None:
    assert {*PRESETS} >= {"moco-bert", "transaug", "emma-x"}
    for name, path in PRESETS.items():
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        assert head.startswith("# ") and head.endswith("."), name
        values = tomllib.loads("\n".join(lines))
        METHODS[values.pop("method")].options(**values)
        assert all(" # " in line or line.startswith("method") for line in lines), name


def test_flags_beat_a_file_and_a_file_beats_a_preset(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []

    def fails(options: object, _corpus: object) -> None:
        found.append(options)
        raise OptionError("far enough")

    monkeypatch.setattr("xmine.trainer.run.fitting.fitted", fails)
    (tmp_path / "p.tsv").write_text("".join(f"one {n}\tzwei {n}\n" for n in range(2000)))
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "o.toml"
    file.write_text('method = "moco"\nbatch_size = 8\nmomentum = 0.5\n')
    words = ["--options", file, "--batch-size", "16", "-o", tmp_path / "e", "p.tsv"]
    assert "far enough" in command("train", "--preset", "moco-bert", *words).err
    made = found[-1]
    assert (made.batch_size, made.momentum, made.queue_size) == (16, 0.5, 409_600)
    assert "far enough" in command("train", *words).err
    assert (found[-1].batch_size, found[-1].momentum, found[-1].src_encoder) == (16, 0.5, "")
    refused = command("train", "--method", "transaug", *words)
    assert refused.code == 2 and "o.toml:3: --momentum is for moco" in refused.err
