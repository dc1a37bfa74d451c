"""A second model judges the candidates alone: what is read, chosen, kept and resumed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xmine
from tests.toys.mined import lines, unit
from tests.toys.sentences import chinese_word, english_word, toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.rescorer import Rescorer
from xmine.mining.matching import read_figures
from xmine.mining.options import MiningOptions
from xmine.mining.rescoring import LEFT_OUT
from xmine.run.steps import Steps
from xmine.scoring.gold import agreement

if TYPE_CHECKING:
    from xmine.progress import Progress

Files = tuple[Path, Path, set[tuple[int, int]]]
Vectors = NDArray[np.float32]


class Told:
    """Judges pairs by the truth that it is told, and by noise; stands in for a cross-encoder."""

    name, source = "told", None
    pairs_at_once = 16

    def __init__(self, files: Files, worth: float) -> None:
        texts = [path.read_text(encoding="utf-8").splitlines() for path in files[:2]]
        self.right = {(texts[0][x - 1], texts[1][y - 1]) for x, y in files[2]}
        self.worth, self.stops_after = worth, 10**9
        self.read: list[tuple[str, str]] = []

    def fingerprint(self) -> str:
        return f"told-{self.worth}"

    def judge(self, sources: Sequence[str], targets: Sequence[str]) -> Vectors:
        pairs = list(zip(sources, targets, strict=True))
        if len(self.read) + len(pairs) > self.stops_after:
            raise KeyboardInterrupt
        self.read += pairs
        seeds = [list("".join(pair).encode()) for pair in pairs]
        noise = np.array([np.random.default_rng(seed).normal() for seed in seeds])
        truth = np.array([pair in self.right for pair in pairs])
        return (self.worth * truth + noise).astype(np.float32)

    @property
    def model(self) -> Rescorer:
        found: Any = self
        return found


def write(path: Path, texts: Sequence[str]) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


@pytest.fixture
def hard(tmp_path: Path) -> Files:
    """Files whose 150 translations have a quarter of their words replaced, among 250 others."""
    random = np.random.default_rng(8)
    english, _, meanings = toy_sentences(400, seed=5)
    chinese = []
    for row, words in enumerate(meanings):
        others = random.choice(120, len(words))
        kept = (random.random(len(words)) < 0.75) & (row < 150)
        chinese.append("".join(chinese_word(int(at)) for at in np.where(kept, words, others)))
    order = random.permutation(400)
    gold = {(int(row) + 1, at + 1) for at, row in enumerate(order) if row < 150}
    target = write(tmp_path / "hard.zh", [chinese[row] for row in order])
    return write(tmp_path / "hard.en", english), target, gold


@pytest.fixture
def given(tmp_path: Path) -> tuple[Files, tuple[Vectors, Vectors]]:
    """Vectors of lines whose texts say nothing, 120 of 300 pairs being translations."""
    names = [
        [f"{word(at % 120)} {at}" for at in range(300)] for word in (english_word, chinese_word)
    ]
    files = write(tmp_path / "given.en", names[0]), write(tmp_path / "given.zh", names[1])
    random = np.random.default_rng(3)
    source, noise = random.normal(size=(2, 300, 48))
    target = np.where(np.arange(300)[:, None] < 120, source + 1.5 * noise, noise)
    return (*files, {(at, at) for at in range(1, 121)}), (unit(source), unit(target))


def f1(mined: xmine.Mined, gold: set[tuple[int, int]]) -> float:
    return agreement(lines(mined), gold).f1


@pytest.mark.parametrize("rerank", ["tokens", "off"])
def test_a_model_that_knows_finds_more_and_noise_costs_nothing(
    toy_encoder: SentenceEncoder, hard: Files, rerank: str
) -> None:
    source, target, gold = hard
    options = MiningOptions(rerank=rerank)
    plain = f1(xmine.mine(source, target, toy_encoder, options), gold)
    knows, noise = (
        xmine.mine(source, target, toy_encoder, options, rescore=Told(hard, worth).model)
        for worth in (5.0, 0.0)
    )
    assert 0.5 < plain < 0.9
    assert f1(knows, gold) > plain + 0.03
    assert f1(noise, gold) > plain - 0.015
    assert knows.pairs.margins is not None and knows.pairs.probs is not None
    assert (np.diff(knows.pairs.probs) <= 0).all()
    if rerank == "tokens":  # a higher score is never less probable
        assert (np.diff(knows.pairs.probs[np.argsort(-knows.pairs.scores)]) <= 0).all()


def test_figures_count_with_their_leads_alone(
    toy_encoder: SentenceEncoder, hard: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = f1(xmine.mine(*hard[:2], toy_encoder), hard[2])
    flat = lambda _, figures: np.zeros((len(figures), 2), np.float32)  # noqa: E731
    monkeypatch.setattr("xmine.mining.rescoring.with_leads", flat)
    found = xmine.mine(*hard[:2], toy_encoder, rescore=Told(hard, 5.0).model)
    assert f1(found, hard[2]) == pytest.approx(plain, abs=0.01)


@pytest.mark.parametrize("rows", [(9, 1), (9, 3), (3, 9)])
@pytest.mark.parametrize("rerank", ["tokens", "off"])
def test_a_side_of_a_few_lines_is_rescored(
    toy_encoder: SentenceEncoder, tmp_path: Path, rows: tuple[int, int], rerank: str
) -> None:
    english, chinese, _ = toy_sentences(9, seed=5)
    source, target = write(tmp_path / "en", english[: rows[0]]), tmp_path / "zh"
    write(target, chinese[: rows[1]])
    options = MiningOptions(rerank=rerank, threshold=-99.0)
    mined = xmine.mine(source, target, toy_encoder, options, rescore=toy_encoder)
    assert len(mined.pairs) == min(rows)


def test_given_vectors_are_rescored(given: tuple[Files, tuple[Vectors, Vectors]]) -> None:
    files, vectors = given
    plain = xmine.mine(*files[:2], vectors=vectors)
    for margin in ("ratio", "distance"):
        model = Told(files, 6.0)
        knows = xmine.mine(
            *files[:2], None, MiningOptions(margin=margin), vectors=vectors, rescore=model.model
        )
        assert f1(knows, files[2]) > f1(plain, files[2]) + 0.02
        assert len(model.read) == len(set(model.read)) <= 2 * 600


def test_the_figure_of_an_encoder_is_its_cosine(
    toy_encoder: SentenceEncoder, toy_folder: Path, toy_files: Files, tmp_path: Path
) -> None:
    """Encoded once, whatever the number of pairs."""
    plain = xmine.mine(*toy_files[:2], toy_encoder, MiningOptions(threshold=float("-inf")))
    candidates = plain.candidates
    other = SentenceEncoder.load(toy_folder)
    encoded = ((candidates.source, np.empty((0, 0))), (candidates.target, np.empty((0, 0))))
    random = np.random.default_rng(2)
    x, y = random.integers(0, 60, 500), random.integers(0, 60, 500)
    texts = [list(side.texts) for side in (candidates.source, candidates.target)]
    calls = []

    def encode(encoder: SentenceEncoder) -> list[NDArray[np.float16]]:
        calls.append(encoder)
        return [encoder.encode_half(each) for each in texts]

    given: Any = encoded
    steps = Steps(tmp_path / "parts")
    found = [read_figures(other, given, (x, y), steps, encode) for _ in range(2)]
    own = [other.encode(each) for each in texts]
    np.testing.assert_allclose(found[0], (own[0][x] * own[1][y]).sum(axis=1), atol=2e-3)
    np.testing.assert_array_equal(found[0], found[1])
    assert calls == [other]


def test_a_run_keeps_the_figures_and_continues_them(
    toy_encoder: SentenceEncoder, toy_files: Files, tmp_path: Path
) -> None:
    run = tmp_path / "run"

    def mine(told: Told | None, **more: Any) -> xmine.Mined:
        model = told.model if told else None
        return xmine.mine(*toy_files[:2], toy_encoder, rescore=model, run=run, **more)

    whole = Told(toy_files, 2.0)
    wanted = xmine.mine(*toy_files[:2], toy_encoder, rescore=whole.model)
    killed = Told(toy_files, 2.0)
    killed.stops_after = 40
    with pytest.raises(KeyboardInterrupt):
        mine(killed)
    assert len(list(run.glob("parts/rescoring*"))) == 2 and len(killed.read) == 32
    rest = Told(toy_files, 2.0)
    seen: list[Progress] = []
    resumed = mine(rest, report=seen.append)
    assert rest.read == whole.read[32:]
    assert list(resumed.pairs.rows()) == list(wanted.pairs.rows())
    said = [each for each in seen if each.stage == "judging pairs"]
    assert said[-1].done == said[-1].total == len(whole.read)
    for options in (MiningOptions(), MiningOptions(min_prob=0.9)):
        again = Told(toy_files, 2.0)
        mine(again, options=options)
        assert again.read == []
    other = Told(toy_files, 3.0)
    mine(other)
    assert other.read == whole.read
    mine(None)
    assert not list(run.glob("parts/rescoring*"))


def test_second_models_that_were_made_in_memory_are_told_apart(
    toy_encoder: SentenceEncoder, toy_files: Files, tmp_path: Path
) -> None:
    body = toy_encoder.body
    assert isinstance(body, StaticEmbedding)
    rows = np.asarray(body.table.rows, dtype=np.float32)[::-1]
    other = SentenceEncoder(StaticEmbedding(body.pieces, Table.rounded(rows)))
    one = SentenceEncoder(body)
    assert one.fingerprint() is other.fingerprint() is None
    xmine.mine(*toy_files[:2], toy_encoder, rescore=one, run=tmp_path / "run")
    xmine.mine(*toy_files[:2], toy_encoder, rescore=SentenceEncoder(body), run=tmp_path / "run")
    before = set(tmp_path.glob("run/parts/rescoring-*"))
    xmine.mine(*toy_files[:2], toy_encoder, rescore=other, run=tmp_path / "run")
    assert not before & set(tmp_path.glob("run/parts/rescoring-*"))


def test_an_encoder_leaves_no_vectors_in_the_run(
    toy_encoder: SentenceEncoder, toy_folder: Path, toy_files: Files, tmp_path: Path
) -> None:
    second = SentenceEncoder.load(toy_folder)
    for cache in (True, False):
        options, run = MiningOptions(cache=cache), tmp_path / f"run-{cache}"
        xmine.mine(*toy_files[:2], toy_encoder, options, rescore=second, run=run)
        assert list(run.glob("parts/rescoring*"))
        rows = sum(len(np.load(path)) for path in run.glob("parts/vectors-*"))
        assert rows == sum(len(np.load(run / f"{side}.npy")) for side in ("source", "target"))


def test_too_few_pairs_leave_the_model_out(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    files = (
        write(tmp_path / "a", toy_sentences(1, seed=1)[0]),
        write(tmp_path / "b", toy_sentences(1, seed=2)[1]),
        {(1, 1)},
    )
    told = Told(files, 2.0)
    mined = xmine.mine(*files[:2], toy_encoder, rescore=told.model)
    assert LEFT_OUT.format("--rescore") in mined.report().warnings and told.read == []
    plain = xmine.mine(*files[:2], toy_encoder)
    assert list(mined.pairs.rows()) == list(plain.pairs.rows())


def test_the_order_within_blocks_is_evidence_for_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of lines with noisy vectors are moved; in shuffled lines nothing changes."""
    rng, size = np.random.default_rng(1), 600
    vectors = rng.standard_normal((size, 32))
    noisy = vectors + 1.4 * rng.standard_normal((size, 32))
    blocks = rng.permutation(size // 30)[:, None] * 30 + np.arange(30)
    texts = [f"{chr(97 + at % 26)} {at}" for at in range(size)]
    found = {}
    for name, order in (("blocks", blocks.ravel()), ("shuffled", rng.permutation(size))):
        gold = set(zip((order + 1).tolist(), range(1, size + 1), strict=True))
        for by in ("order", "none"):
            with monkeypatch.context() as patch:
                if by == "none":
                    patch.setattr("xmine.mining.pipeline.is_in_stretches", lambda _: False)
                sides = unit(vectors), unit(noisy[order])
                mined = xmine.mine(texts, [texts[at] + "." for at in order], vectors=sides)
            found[name, by] = agreement(lines(mined), gold).f1
    assert found["blocks", "order"] > found["blocks", "none"] + 0.03
    assert found["shuffled", "order"] == found["shuffled", "none"]
