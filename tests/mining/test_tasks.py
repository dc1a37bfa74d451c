"""A run whose stages are cut into tasks has the files of a run in one process, byte for byte."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.toys.engines import Shuffled
from tests.toys.grids import mostly_long
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.modules.transformer import Transformer
from xmine.encoders.pair import EncoderPair
from xmine.errors import EncoderError, XmineError
from xmine.flags import line_features
from xmine.knn import tiles
from xmine.mining import matching
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.run.local import LocalEngine
from xmine.run.steps import make_part
from xmine.run.task import Engine

Encoder = SentenceEncoder | EncoderPair
Checkpoint = Callable[..., Path]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StaticEmbedding, "texts_at_once", 16)
    monkeypatch.setattr(Transformer, "texts_at_once", 16)
    monkeypatch.setattr(matching, "PAIRS_OF_A_TASK", 24)
    monkeypatch.setattr(line_features, "LINES_OF_A_TASK", 40)
    monkeypatch.setattr(tiles, "_EXACT_ROWS", (64, 64))


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    """Files of 150 lines, 100 of them translations; some lines are repeated, blank or unknown."""
    english, chinese, _ = toy_sentences(200, seed=21)
    english, chinese = english[:150], [*chinese[:100], *chinese[150:]]
    random.Random(4).shuffle(chinese)
    for lines in (english, chinese):
        lines[30:30] = ["☃ ☃", "", lines[3], lines[50].upper()]
    paths = tmp_path / "en.txt", tmp_path / "zh.txt"
    for path, lines in zip(paths, (english, chinese), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


@pytest.mark.parametrize(
    ("given", "times"), [({}, 1), ({"rerank": "off"}, 1), ({"src_prompt": "ba "}, 2)]
)
def test_every_line_is_cut_into_tokens_once(
    texts: tuple[Path, Path],
    toy_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, Any],
    times: int,
) -> None:
    encoder, cut = SentenceEncoder.load(toy_folder), Counter[str]()
    assert isinstance(encoder.body, StaticEmbedding)
    ids = encoder.body.pieces.ids

    def counted(some: list[str]) -> Any:
        cut.update(text.removeprefix("ba ") for text in some)
        return ids(some)

    monkeypatch.setattr(encoder.body.pieces, "ids", counted)
    options = MiningOptions(cache=False, src_lang="en", tgt_lang="zh", **given)
    mine(*texts, encoder, options, run=tmp_path / "run")
    texts_of_run = pl.read_parquet(tmp_path / "run" / "source.parquet")["text"]
    assert {cut[line] for line in texts_of_run} == {times}


def test_a_broken_row_that_no_text_has_changes_nothing(
    texts: tuple[Path, Path], toy_folder: Path, tmp_path: Path
) -> None:
    body = SentenceEncoder.load(toy_folder).body
    assert isinstance(body, StaticEmbedding)
    lines = [line for path in texts for line in path.read_text(encoding="utf-8").splitlines()]
    unused = np.setdiff1d(np.arange(len(body.pieces)), body.pieces.ids(lines)[0])
    vectors = body.vectors.copy()
    found = []
    for broken in (False, True):
        vectors[unused[-1]] = np.nan if broken else 0
        encoder = SentenceEncoder(StaticEmbedding(body.pieces, Table(vectors.copy(), None)))
        options = MiningOptions(rerank="tokens", cache=False)
        mine(*texts, encoder, options, run=tmp_path / str(broken))
        found.append((tmp_path / str(broken) / "pairs.parquet").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("rerank", ["tokens", "off"])
def test_an_encoder_with_a_broken_row_is_told(
    texts: tuple[Path, Path], toy_folder: Path, tmp_path: Path, rerank: str
) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    assert isinstance(encoder.body, StaticEmbedding)
    vectors = encoder.body.vectors.copy()
    line = texts[0].read_text(encoding="utf-8").splitlines()[40]
    vectors[encoder.body.pieces.ids([line])[0][0]] = np.nan
    encoder.body.table = Table(vectors, None)
    with pytest.raises(EncoderError, match="not finite"):
        mined(texts, encoder, tmp_path / "run", rerank=rerank)


def files(run: Path) -> dict[str, bytes]:
    """Read all files of a run but for the log."""
    paths = [path for path in run.rglob("*") if path.is_file() and path.name != "log.txt"]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in paths}


def mined(
    texts: tuple[Path, Path],
    encoder: Encoder,
    run: Path,
    engine: Engine | None = None,
    *,
    rescorer: SentenceEncoder | None = None,
    **options: Any,
) -> dict[str, bytes]:
    chosen = MiningOptions(cache=False, **options)
    mine(*texts, encoder, chosen, rescorer=rescorer, run=run, engine=engine)
    return files(run)


def stages(engine: Shuffled) -> dict[str, int]:
    """Count the tasks of each kind of files; the search has tests of its own."""
    names = [task.name.partition("-")[0] for task in engine.ran if task.function is make_part]
    return {name: names.count(name) for name in sorted(set(names))}


@pytest.mark.parametrize(
    "options",
    [{}, {"rerank": "off"}, {"rerank": "tokens", "src_prompt": "say: ", "tgt_prompt": "说："}],
    ids=["auto", "off", "prompts"],
)
@pytest.mark.parametrize(
    "kind", mostly_long(["static", "transformer", "two"], usual=["static", "two"])
)
def test_tasks_leave_the_files_of_one_process(
    texts: tuple[Path, Path],
    toy_folder: Path,
    checkpoint: Checkpoint,
    tmp_path: Path,
    kind: str,
    options: dict[str, Any],
) -> None:
    if kind == "two" and options.get("rerank") == "tokens":
        options = {**options, "rerank": "auto"}
    static = SentenceEncoder.load(toy_folder)
    encoder: Encoder = static
    if kind == "transformer":
        encoder = SentenceEncoder.load(checkpoint())
    elif kind == "two":
        SentenceEncoder.load(toy_folder).save(tmp_path / "other")
        encoder = EncoderPair(static, SentenceEncoder.load(tmp_path / "other"))
    expected = mined(texts, encoder, tmp_path / "here", **options)
    engine = Shuffled()
    assert mined(texts, encoder, tmp_path / "there", engine, **options) == expected
    rows = np.load(tmp_path / "here" / "source.npy").shape[0]
    every = rows + (kind != "transformer")  # which has a vector for an unknown token, too
    counts = {"lines": 2 * -(-rows // 40), "compared": 1}
    counts["vectors"] = 2 * -(-every // 16)
    judged = kind != "two" and options.get("rerank") != "off"
    if judged and (kind == "transformer" or "src_prompt" in options):
        counts["tokens"] = 2 * -(-rows // 16)
    ran = stages(engine)
    for name in ("matches", "stretches"):
        pairs = sum(len(np.load(path)) for path in tmp_path.glob(f"here/parts/{name}-*"))
        assert ran.pop(name, 0) == -(-pairs // 24)
    assert ran == counts


@pytest.mark.parametrize("kind", ["static", "transformer"])
def test_a_second_model_encodes_in_tasks(
    texts: tuple[Path, Path], toy_folder: Path, checkpoint: Checkpoint, tmp_path: Path, kind: str
) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    rescorer = SentenceEncoder.load(toy_folder if kind == "static" else checkpoint())
    expected = mined(texts, encoder, tmp_path / "here", rescorer=rescorer)
    engine = Shuffled()
    assert mined(texts, encoder, tmp_path / "there", engine, rescorer=rescorer) == expected
    rows = len(np.load(tmp_path / "here" / "source.npy"))
    assert stages(engine)["vectors"] > 2 * -(-rows // 16)  # more than the first model has


@pytest.mark.parametrize(
    ("kind", "is_shared"),
    [
        ("static", True),
        pytest.param("static", False, marks=pytest.mark.long),
        pytest.param("transformer", True, marks=pytest.mark.long),
    ],
)
def test_a_run_that_stops_between_parts_goes_on_with_any_engine(
    texts: tuple[Path, Path],
    toy_folder: Path,
    checkpoint: Checkpoint,
    tmp_path: Path,
    kind: str,
    is_shared: bool,
) -> None:
    encoder = SentenceEncoder.load(toy_folder if kind == "static" else checkpoint())
    expected = mined(texts, encoder, tmp_path / "here", rerank="tokens")
    whole = Shuffled()
    mined(texts, encoder, tmp_path / "whole", whole, rerank="tokens")
    names = [task.name for task in whole.ran]
    kinds = [name.partition("-")[0] for name in names]
    # A static encoder's tokens are read with the vectors; no pair of the other one is likely.
    own = ["stretches"] if kind == "static" else ["tokens"]
    for stage in ("vectors", "matches", "lines", *own):
        run, began = tmp_path / stage, Shuffled(stops_after=kinds.index(stage) + 2)
        with pytest.raises(KeyboardInterrupt):
            mined(texts, encoder, run, began, rerank="tokens")
        assert len(list(run.rglob(f"{stage}-*.npy"))) == 2
        other = Shuffled(seed=7) if is_shared else LocalEngine()
        assert mined(texts, encoder, run, other, rerank="tokens") == expected
        if isinstance(other, Shuffled):
            ran = [task.name for task in [*began.ran, *other.ran]]
            assert sorted(ran) == sorted(names)


def test_an_engine_goes_on_with_a_local_run(
    texts: tuple[Path, Path], toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # with more, some tasks end behind the stop
    encoder, whole = SentenceEncoder.load(toy_folder), Shuffled()
    expected = mined(texts, encoder, tmp_path / "here", whole)

    def stop(progress: Any) -> None:
        if progress.stage == "matching tokens" and progress.done > 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mine(*texts, encoder, MiningOptions(cache=False), stop, run=tmp_path / "run")
    engine = Shuffled()
    assert mined(texts, encoder, tmp_path / "run", engine) == expected
    assert 0 < stages(engine)["matches"] < stages(whole)["matches"]


def test_vectors_in_the_cache_need_no_task(
    texts: tuple[Path, Path], checkpoint: Checkpoint, tmp_path: Path
) -> None:
    encoder, engine = SentenceEncoder.load(checkpoint()), Shuffled()
    for run in ("one", "two"):
        engine.ran.clear()
        mine(*texts, encoder, run=tmp_path / run, engine=engine)
        assert ("vectors" in stages(engine)) == (run == "one")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_task_names_no_gpu_of_this_machine(
    texts: tuple[Path, Path], toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices: list[str] = []

    def search(*given: Any, device: str, **options: Any) -> Any:
        devices.append(device)
        raise KeyboardInterrupt

    monkeypatch.setattr("xmine.mining.stages.search_device", lambda *given: "cuda:1")
    monkeypatch.setattr("xmine.mining.stages.search_in_tiles", search)
    monkeypatch.setattr("xmine.mining.stages.search_exact", search)
    for name, engine in (("here", LocalEngine()), ("there", Shuffled())):
        with pytest.raises(KeyboardInterrupt):
            mined(texts, SentenceEncoder.load(toy_folder), tmp_path / name, engine)
    assert devices == ["cuda:1", "cuda"]


def test_an_encoder_without_a_folder_works_in_this_process(
    texts: tuple[Path, Path], toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    engine = Shuffled()
    expected = mined(texts, toy_encoder, tmp_path / "here")
    assert mined(texts, toy_encoder, tmp_path / "there", engine) == expected
    assert set(stages(engine)) == {"lines", "compared"}  # these need no encoder


def test_a_temporary_run_has_no_tasks(texts: tuple[Path, Path], toy_folder: Path) -> None:
    engine = Shuffled()
    mine(*texts, SentenceEncoder.load(toy_folder), engine=engine)
    assert stages(engine) == {}


def test_another_encoder_throws_the_parts_away(
    texts: tuple[Path, Path], toy_folder: Path, checkpoint: Checkpoint, tmp_path: Path
) -> None:
    run, static = tmp_path / "run", SentenceEncoder.load(toy_folder)
    with pytest.raises(KeyboardInterrupt):
        mined(texts, SentenceEncoder.load(checkpoint()), run, Shuffled(stops_after=2))
    before = {path.name for path in run.glob("parts/vectors-*")}
    options, engine = MiningOptions(cache=False, rerank="off"), Shuffled()
    mine(*texts, static, options, run=run, force=True, engine=engine)
    assert files(run) == mined(texts, static, tmp_path / "here", rerank="off")
    assert before and not any((run / "parts" / name).exists() for name in before)


def test_a_node_is_refused_before_an_older_run_is_replaced(
    texts: tuple[Path, Path], toy_folder: Path, tmp_path: Path
) -> None:
    class Blind(Shuffled):
        """Has a node that does not see the folder."""

        def check(self, folder: Path) -> list[str]:
            raise XmineError(f"node a does not see {folder}")

    encoder, run = SentenceEncoder.load(toy_folder), tmp_path / "run"
    with pytest.raises(XmineError, match="node a does not see"):
        mined(texts, encoder, run, Blind())
    assert not run.exists()
    before = mined(texts, encoder, run)
    with pytest.raises(XmineError, match="node a does not see"):
        mine(*texts, encoder, MiningOptions(neighborhood=9), run=run, force=True, engine=Blind())
    assert files(run) == before
