"""Rounds of training on a run's confident pairs and mining again: what they take, keep, refuse."""

import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys import killable
from tests.toys.adapted import mine_toys
from tests.toys.grids import mostly_long
from xmine.browsing.opening import open_pairs
from xmine.browsing.repairs import Bead, Repair, Unit
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError, TrainingError, XmineError
from xmine.judging.judgements import Judgements
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.pair import Pair
from xmine.trainer import adapt as module
from xmine.trainer import confident as confident_pairs
from xmine.trainer.adapt import Round, adapt, best_of
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.options.adapt import ADAPTERS, AdaptOptions
from xmine.trainer.run.loop import Training
from xmine.trainer.train import train as train_encoder

FEWEST = 50
# With these options the toys have a new confident pair in each of two rounds.
LONG = AdaptOptions(rounds=2, confidence=0.99, epochs=30, threads=1)
SHORT = AdaptOptions(epochs=2, threads=1)
Texts = set[tuple[str, str]]


@pytest.fixture(scope="module")
def toys(toy_encoder: SentenceEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two texts, an encoder, and a run, which nothing changes."""
    folder = tmp_path_factory.mktemp("adapted")
    mine_toys(folder, toy_encoder)
    return folder


@pytest.fixture
def run(toys: Path, tmp_path: Path) -> Path:
    """A run that may be judged."""
    return Path(shutil.copytree(toys / "run", tmp_path / "run"))


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confident_pairs, "FEWEST", FEWEST)


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[Texts]:
    return noting(monkeypatch)


def noting(monkeypatch: pytest.MonkeyPatch) -> list[Texts]:
    """The pairs that each call of `train` is given."""
    given: list[Texts] = []
    train = train_encoder

    def told(method: str, corpus: Corpus, *rest: Any, **options: Any) -> object:
        assert corpus.pairs
        given.append(set(zip(corpus.pairs.sources, corpus.pairs.targets, strict=True)))
        assert len(given[-1]) == len(corpus.pairs)
        return train(method, corpus, *rest, **options)

    monkeypatch.setattr(module, "train", told)
    return given


def confident(run: Path, least: float) -> dict[tuple[int, int], Pair]:
    """The pairs of a run of such a probability, by their lines."""
    opened = open_pairs(run)
    pairs = map(opened.pair, range(len(opened)))
    found = [each for each in pairs if each.prob is not None and round(each.prob, 4) >= least]
    return {(each.source_line or 0, each.target_line or 0): each for each in found}


def texts(pairs: dict[tuple[int, int], Pair]) -> Texts:
    return {(each.source, each.target) for each in pairs.values()}


def files(folder: Path) -> dict[str, bytes]:
    """What does not tell the time: encoders, and the candidates of runs."""
    names = ("model.safetensors", "candidates.parquet", "pairs.parquet")
    found = (path for path in folder.rglob("*") if path.name in names)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def short(toys: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Texts]:
    """One round of the run as it is, and what it was taught."""
    output = tmp_path_factory.mktemp("short") / "adapted"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confident_pairs, "FEWEST", FEWEST)
        given = noting(patch)
        list(adapt(toys / "run", output, SHORT))
    return output, given[0]


@pytest.fixture(scope="module")
def looped(
    toys: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Round], list[Texts]]:
    """Two rounds, and what they were taught."""
    output = tmp_path_factory.mktemp("looped") / "adapted"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confident_pairs, "FEWEST", FEWEST)
        given = noting(patch)
        return output, list(adapt(toys / "run", output, LONG)), given


def test_the_folder_has_an_encoder_and_a_run_of_each_round(
    looped: tuple[Path, list[Round], list[Texts]], toys: Path
) -> None:
    output, rounds, _ = looped
    assert [each.number for each in rounds] == [0, 1, 2]
    made = {f"{kind}-{number}" for kind in ("encoder", "round") for number in (1, 2)}
    assert {path.name for path in output.iterdir()} == {"adapt.json", *made}
    assert (rounds[0].encoder, rounds[0].run) == (str(toys / "start"), toys / "run")
    for each in rounds[1:]:
        assert each.encoder == str(output / f"encoder-{each.number}")
        opened = open_pairs(each.run)
        assert opened.run["vectors"]["encoder"] == each.encoder
        assert each.mined and len(each.mined.pairs) == int(opened.kept(opened.cut).sum())
    assert best_of(rounds).accuracy == max(each.accuracy for each in rounds) > rounds[0].accuracy


def test_only_a_language_that_the_encoder_knows_by_some_code_is_adapted_to(run: Path) -> None:
    opened = open_pairs(run)
    for codes in (("en", "zh"), ("eng", "zh-CN"), ("EN", "cmn"), ("en", "zho_Hans"), ("en", "und")):
        assert module._encoder_of(replace(opened, languages=codes)).facts.languages == ("en", "zh")
    with pytest.raises(TrainingError, match="no language, as Hungarian") as caught:
        module._encoder_of(replace(opened, languages=("hu", "en")))
    assert "--extend" in caught.value.hint


def test_a_round_trains_on_the_confident_pairs_of_the_one_before_but_for_those_held_out(
    toys: Path, looped: tuple[Path, list[Round], list[Texts]]
) -> None:
    _, rounds, taught = looped
    held_out = texts(confident(toys / "run", 0.99)) - taught[0]
    assert len(held_out) == len(confident(toys / "run", 0.99)) // 10
    for before, after, given in zip(rounds, rounds[1:], taught, strict=False):
        assert given == texts(confident(before.run, 0.99)) - held_out
        assert after.pairs == len(given)


def test_confident_pairs_keep_their_probability(
    looped: tuple[Path, list[Round], list[Texts]], toys: Path
) -> None:
    _, rounds, _ = looped
    before, after = confident(toys / "run", 0.99), confident(rounds[-1].run, 0.0)
    kept = before.keys() & after.keys()
    assert len(kept) > 0.95 * len(before)
    assert [after[each].prob for each in kept] == [before[each].prob for each in kept]


def test_given_again_a_finished_loop_trains_nothing_and_takes_more_rounds(
    toys: Path, looped: tuple[Path, list[Round], list[Texts]], taught: list[Texts]
) -> None:
    output, rounds, _ = looped
    made = files(output)
    again = list(adapt(toys / "run", output, LONG))
    assert not taught and files(output) == made
    assert [each.accuracy for each in again] == [each.accuracy for each in rounds]
    for name in ("encoder-2", "round-2"):  # as if one round had been asked for
        shutil.rmtree(output / name)
    more = list(adapt(toys / "run", output, LONG))
    assert len(taught) == 1 and files(output) == made
    assert [each.accuracy for each in more] == [each.accuracy for each in rounds]


def judge(run: Path, verdicts: dict[int, str]) -> list[Pair]:
    opened = open_pairs(run)
    judgements = Judgements.open(opened, "me")
    for row, verdict in verdicts.items():
        judgements.judge(row, verdict)
    return [opened.pair(row) for row in verdicts]


def test_accepted_pairs_are_trained_on_and_rejected_ones_never(
    run: Path, tmp_path: Path, taught: list[Texts], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_pairs(run)
    assert opened.probs is not None
    unlikely = np.flatnonzero(opened.probs < 0.3)[:3].tolist()
    wrong, right = judge(run, {0: "reject", 5: "reject"}), judge(run, {unlikely[0]: "accept"})
    judge(run, {1: "unsure"})
    halves = Bead((Unit("1", "put"),), (Unit("1", "right"),)), Bead((Unit("1", "b"),), ())
    Judgements.open(opened).repair({2: Repair("split", halves)})
    mended, kept = ("put", "right"), opened.pair(2)
    monkeypatch.setattr(module, "_HELD_OUT", 1)  # so that a judged pair is hardly it
    rounds = list(adapt(run, tmp_path / "adapted", LONG))
    for given, each in zip(taught, rounds[1:], strict=True):
        assert {(pair.source, pair.target) for pair in right} | {mended} <= given
        assert (kept.source, kept.target) not in given
        assert not {(pair.source, pair.target) for pair in wrong} & given
        found = confident(each.run, 0.0)
        lines = {(pair.source_line, pair.target_line) for pair in wrong}
        assert all(pair.prob == 0 for place, pair in found.items() if place in lines)


def test_verdicts_that_say_nothing_change_nothing(
    run: Path, tmp_path: Path, short: tuple[Path, Texts]
) -> None:
    judge(run, {0: "accept", 1: "unsure"})
    judge(run, {0: "none"})
    list(adapt(run, tmp_path / "adapted", SHORT))
    assert files(tmp_path / "adapted") == files(short[0])


@pytest.mark.parametrize("method", mostly_long(ADAPTERS, ["transaug"]))
def test_each_method_trains_in_the_loop(toys: Path, tmp_path: Path, method: str) -> None:
    options = AdaptOptions(method=method, epochs=2, threads=1)
    first, second = adapt(toys / "run", tmp_path / "adapted", options)
    assert SentenceEncoder.load(second.encoder).facts.method == method
    assert second.accuracy > first.accuracy - 0.1


def refused(error: type[XmineError], run: Path, output: Path, **given: Any) -> str:
    with pytest.raises(error) as caught:
        next(adapt(run, output, given.pop("options", SHORT), **given))
    return f"{caught.value.message}; {caught.value.hint}"


def test_too_few_confident_pairs_are_refused_before_anything_is_made(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = len(confident(toys / "run", 0.9))
    there = pairs - pairs // 10
    monkeypatch.setattr(confident_pairs, "FEWEST", there + 1)
    said = refused(TrainingError, toys / "run", tmp_path / "adapted")
    assert f"{pairs} pairs of probability 0.9 or more; {there} are too few" in said
    assert "xmine train" in said and not (tmp_path / "adapted").exists()
    monkeypatch.setattr(confident_pairs, "FEWEST", there)
    assert next(adapt(toys / "run", tmp_path / "adapted", SHORT)).number == 0


def mined(folder: Path, encoder: Any, **given: Any) -> Path:
    options = MiningOptions(**given.pop("options", {}))
    source, target = given.pop("inputs", (folder / "en.txt", folder / "zh.txt"))
    mine(source, target, encoder, options, run=folder / "other", **given)
    return folder / "other"


@pytest.fixture
def others(toys: Path, tmp_path: Path) -> Path:
    """A folder with the texts, to mine them otherwise."""
    for name in ("en.txt", "zh.txt"):
        shutil.copy(toys / name, tmp_path)
    return tmp_path


def test_given_vectors_are_refused(others: Path, toy_encoder: SentenceEncoder) -> None:
    sides = [Path(others, name).read_text("utf-8").splitlines() for name in ("en.txt", "zh.txt")]
    left, right = (toy_encoder.encode(each) for each in sides)
    said = refused(TrainingError, mined(others, None, vectors=(left, right)), others / "adapted")
    assert "its vectors were given" in said and "xmine train" in said


def test_lines_that_were_cut_are_refused(others: Path, toy_encoder: SentenceEncoder) -> None:
    run = mined(others, toy_encoder, options={"segment": True})
    assert "--segment" in refused(TrainingError, run, others / "adapted")


def test_texts_that_have_changed_are_refused(others: Path, toys: Path) -> None:
    run = mined(others, SentenceEncoder.load(toys / "start"))
    with (others / "zh.txt").open("a") as file:
        file.write("one more\n")
    said = refused(FileError, run, others / "adapted")
    assert "zh.txt: changed since it was mined" in said and "--force" in said


def test_an_encoder_that_has_changed_is_refused(
    others: Path, toy_encoder: SentenceEncoder, toys: Path
) -> None:
    shutil.copytree(toys / "start", others / "start")
    run = mined(others, SentenceEncoder.load(others / "start"))
    shutil.rmtree(others / "start")
    toy_encoder.save(others / "start")
    assert "as it is now" in refused(FileError, run, others / "adapted")


def test_a_folder_with_other_files_is_refused_even_with_force(toys: Path, tmp_path: Path) -> None:
    (tmp_path / "adapted").mkdir()
    (tmp_path / "adapted" / "thesis.txt").write_text("all of it")
    for force in (False, True):
        said = refused(FileError, toys / "run", tmp_path / "adapted", force=force)
        assert "a folder with other files in it" in said
    (tmp_path / "file").write_text("")
    assert "is a file" in refused(FileError, toys / "run", tmp_path / "file")
    assert (tmp_path / "adapted" / "thesis.txt").read_text() == "all of it"


def test_another_loop_in_the_folder_is_refused_unless_forced(
    run: Path, toys: Path, tmp_path: Path
) -> None:
    output = tmp_path / "adapted"
    _, first = adapt(run, output, SHORT)
    judged = judge(first.run, {0: "accept"})
    other = AdaptOptions(epochs=3, threads=1)
    assert f"{output}: made with other --epochs" in refused(OptionError, run, output, options=other)
    assert "made with other run" in refused(OptionError, toys / "run", output)
    assert [each.number for each in adapt(Path(os.path.relpath(run)), output, SHORT)] == [0, 1]
    judge(run, {0: "accept"})
    said = refused(OptionError, run, output)
    assert "made with other judgements" in said and "--force" in said
    (output / "adapt.json").write_text("{", encoding="utf-8")
    assert "adapt.json: broken" in refused(FileError, run, output)
    (output / "final").mkdir()  # nothing of the loop
    (output / "round-2.tsv").touch()
    _, second = adapt(run, output, other, force=True)
    assert (output / "final").is_dir() and (output / "round-2.tsv").exists()
    there = json.loads((output / "adapt.json").read_text(encoding="utf-8"))
    assert there["epochs"] == 3
    row = next(row for row in range(len(open_pairs(second.run))) if _is(second.run, row, judged))
    assert Judgements.open(open_pairs(second.run)).of(row) == "accept"


def _is(run: Path, row: int, pairs: list[Pair]) -> bool:
    pair = open_pairs(run).pair(row)
    return (pair.source, pair.target) == (pairs[0].source, pairs[0].target)


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.toys.killable", "xmine.trainer.adapt", "polars"])


@pytest.fixture(scope="module")
def whole(toys: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a loop leaves that nobody kills."""
    output = tmp_path_factory.mktemp("whole") / "adapted"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confident_pairs, "FEWEST", FEWEST)
        list(adapt(toys / "run", output, AdaptOptions(epochs=10, threads=1)))
    return files(output)


Left = Callable[[Path], bool]
LEFT: dict[str, Left] = {
    "training": lambda output: not (output / "encoder-1").exists(),
    "between": lambda output: (output / "encoder-1").exists() and not (output / "round-1").exists(),
    "mining": lambda output: (output / "round-1" / "run.toml").exists(),
}


@pytest.mark.long
@pytest.mark.parametrize("point", LEFT)
def test_a_loop_that_is_killed_goes_on_to_the_same_end(
    toys: Path, tmp_path: Path, whole: dict[str, bytes], point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "adapted"
    words = [str(toys / "run"), "-o", str(output), "--epochs", "10", "--threads", "1"]
    process = FORKS.Process(target=killable.adapt, args=(str(tmp_path), words, point, FEWEST))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    assert LEFT[point](output) and not files(output).keys() >= whole.keys()
    steps: list[int] = []
    take = Training.take

    def told(training: Training, *given: Any) -> None:
        steps.append(training.done)
        take(training, *given)

    monkeypatch.setattr(Training, "take", told)
    list(adapt(toys / "run", output, AdaptOptions(epochs=10, threads=1)))
    assert files(output) == whole
    assert steps[:1] == ([10] if point == "training" else [])  # from its last checkpoint
