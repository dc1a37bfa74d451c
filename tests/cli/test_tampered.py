"""A run whose files were changed gives the same pairs, or says what is wrong: never other pairs."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from tests.toys.once import made_once
from tests.toys.sentences import toy_sentences
from xmine import mine
from xmine.browsing.details import reasons_of
from xmine.browsing.neighbourhood import Surroundings
from xmine.browsing.opening import open_pairs
from xmine.browsing.search import run_vectors
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.errors import XmineError
from xmine.mining.options import MiningOptions
from xmine.pairs.io import read_pairs
from xmine.pairs.pair import Pair
from xmine.progress import Progress, silent

LINES = 300
# Where a run is stopped: in the middle of a stage, or not at all; all stages are kept alike.
STATES = {"stopped": "searching", "finished": ""}


class StoppedError(Exception):
    """Stands for a kill."""


@pytest.fixture(scope="module")
def small_steps() -> Iterator[None]:
    """Work is cut into small parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xmine.knn.tiles._EXACT_ROWS", (100, 100))
        patch.setattr("xmine.flags.line_features.LINES_OF_A_TASK", 128)
        patch.setattr(StaticEmbedding, "texts_at_once", 64)
        yield


@pytest.fixture(scope="module")
def runs(
    toy_folder: Path, small_steps: None, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A run in each state, the same of other texts, what it comes to undisturbed, the encoder."""

    def make(folder: Path) -> None:
        model = shutil.copytree(toy_folder, folder / "model")  # a run names its folder
        for kind, seed in (("own", 3), ("other", 4)):
            english, chinese, _ = toy_sentences(LINES, seed=seed)
            random.Random(seed).shuffle(chinese)
            for name, texts in (("en.txt", [*english, english[0], "☃☃"]), ("zh.txt", chinese)):
                (folder / kind).mkdir(exist_ok=True)
                (folder / kind / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
            for state in STATES:
                begin(folder / kind / state, state, model)
        for state in STATES:
            shutil.copytree(folder / "own" / state, folder / "whole" / state)
            mine_into(folder / "whole" / state, folder / "own", model)

    folder = made_once(tmp_path_factory, "tampered", make)
    return {kind: folder / kind for kind in ("own", "other", "whole", "model")}


def mine_into(
    run: Path, texts: Path, model: Path, report: Callable[[Progress], None] = silent
) -> None:
    mine(
        texts / "en.txt",
        texts / "zh.txt",
        SentenceEncoder.load(model),
        MiningOptions(cache=False, drop=["length,number"]),
        report,
        run=run,
    )


def begin(run: Path, state: str, model: Path) -> None:
    """Mine into a folder until the state is reached."""

    def stopping(now: Progress) -> None:
        if now.stage == STATES[state] and 2 * now.done >= now.total:
            raise StoppedError

    with pytest.raises(StoppedError) if STATES[state] else nullcontext():
        mine_into(run, run.parent, model, stopping)


def files_in(run: Path) -> list[str]:
    """All that a command may take up again."""
    left_out = (".lock", "log.txt")
    files = [path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file()]
    return sorted(name for name in files if name not in left_out)


def with_a_bit_flipped(data: bytes, place: float, dice: random.Random) -> bytes:
    changed = bytearray(data)
    changed[min(int(place * len(data)), len(data) - 1)] ^= 1 << dice.randrange(8)
    return bytes(changed)


# What becomes of the bytes of a file.
CHANGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "a bit": lambda data, dice: with_a_bit_flipped(data, dice.random(), dice),
    "a bit of the start": lambda data, dice: with_a_bit_flipped(data, dice.random() / 20, dice),
    "a bit of the end": lambda data, dice: with_a_bit_flipped(data, 1 - dice.random() / 20, dice),
    "zeros": lambda data, _: data[: len(data) * 2 // 3].ljust(len(data), b"\0"),
    "half": lambda data, _: data[: len(data) // 2],
    "a byte less": lambda data, _: data[:-1],
    "more": lambda data, dice: data + dice.randbytes(99),
    "nothing": lambda *_: b"",
}
IN_ITS_PLACE = ("another run's", "a folder", "nothing at all")


def tamper(path: Path, other: Path, change: str, dice: random.Random) -> None:
    """Change a file, or put something else in its place."""
    data = path.read_bytes()
    path.unlink()  # what is linked to it stays
    if change in CHANGES:
        path.write_bytes(CHANGES[change](data, dice))
    elif change == "a folder":
        path.mkdir()
        (path / "something").write_text("else")
    elif change == "another run's":  # names that have a key in them are another run's, too
        alike = [each for each in other.parent.glob("*") if each.name[:9] == path.name[:9]]
        path.write_bytes(sorted(alike)[0].read_bytes() if alike else data[::-1])


def tried(runs: dict[str, Path], state: str, name: str, change: str, run: Path) -> str:
    """Mine into a run with a changed file; give the message where that is an error."""
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(runs["own"] / state, run)
    dice = random.Random(f"{state} {name} {change}")
    tamper(run / name, runs["other"] / state / name, change, dice)
    try:
        mine_into(run, runs["own"], runs["model"])
    except XmineError as error:
        if not error.message.startswith(str(run)):
            raise
        return error.message
    ours, theirs = contents(run), contents(runs["whole"] / state)
    assert ours.keys() == theirs.keys()
    assert [each for each in ours if ours[each] != theirs[each]] == []
    return ""


def contents(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in files_in(run)}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "most", [pytest.param(6, id="few"), pytest.param(1000, id="all", marks=pytest.mark.long)]
)
def test_no_change_of_a_file_gives_other_pairs(
    runs: dict[str, Path], state: str, most: int, tmp_path: Path
) -> None:
    names = files_in(runs["own"] / state)
    tries = [(name, change) for name in names for change in (*CHANGES, *IN_ITS_PLACE)]
    some = random.Random(state).sample(tries, min(most, len(tries)))
    wrong, refused = [], set()
    for name, change in some:
        try:
            if tried(runs, state, name, change, tmp_path / "run"):
                refused.add(name)
        except Exception as error:  # told with all others
            wrong.append(f"{name}: {change}: {type(error).__name__}: {error}")
    assert wrong == []
    assert refused <= {"run.toml"}  # everything else is made again


@pytest.mark.parametrize(("name", "change"), [("neighbours", "another run's"), ("parts", "a file")])
def test_a_folder_of_another_run_or_a_file_in_its_place_is_made_again(
    runs: dict[str, Path], name: str, change: str, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(runs["own"] / "finished", tmp_path / "run"))
    shutil.rmtree(run / name)
    if change == "a file":
        (run / name).write_text("something else")
    else:
        shutil.copytree(runs["other"] / "finished" / name, run / name)
    mine_into(run, runs["own"], runs["model"])
    assert contents(run) == contents(runs["whole"] / "finished")


def seen(run: Path) -> tuple[list[Pair], list[float]]:
    """What commands that only read a run show of its pairs; they look at all else, too."""
    opened = open_pairs(run)
    pairs = list(read_pairs(run))
    with suppress(XmineError):
        around = Surroundings(opened)
        for row in range(20):
            around.near("source", row)
            around.near("target", row)
        for row in range(len(opened)):
            reasons_of(opened, row)
        run_vectors(opened, "source")
    assert opened.scores is not None
    return pairs, opened.scores.tolist()


@pytest.mark.parametrize(
    "share", [pytest.param(0.05, id="few"), pytest.param(1.0, id="all", marks=pytest.mark.long)]
)
def test_no_change_of_a_file_shows_other_pairs(
    runs: dict[str, Path], share: float, tmp_path: Path
) -> None:
    whole = runs["whole"] / "finished"
    expected, read = seen(whole), 0
    tries = [(name, change) for name in contents(whole) for change in (*CHANGES, *IN_ITS_PLACE)]
    for name, change in random.Random(1).sample(tries, round(share * len(tries))):
        run = tmp_path / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(whole, run)
        other = runs["other"] / "finished" / name
        tamper(run / name, other, change, random.Random(f"{name} {change}"))
        with suppress(XmineError):
            assert seen(run) == expected, (name, change)
            read += 1
    assert read  # vectors, neighbours and parts are no part of the pairs
