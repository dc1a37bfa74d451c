"""Hard negatives of pairs: which are chosen, beside a loop over all, and the losses with them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.rows import Rows, TrainingData
from xmine.trainer.methods import METHODS, moco, msimcse, transaug
from xmine.trainer.models.static import StaticTower
from xmine.trainer.options.contrast import MocoOptions, MsimcseOptions
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.fitting import remarks_on
from xmine.trainer.run.negatives import Miner
from xmine.trainer.run.prepare import cut_pairs
from xmine.trainer.run.step import Step
from xmine.trainer.train import train

K = 3
ROWS = np.arange(60)


def kindred(pairs: ParallelText) -> ParallelText:
    """Take 60 pairs: some sentences twice, some nearly so."""
    sources, targets = list(pairs.sources[:60]), list(pairs.targets[:60])
    for row in range(0, 10, 2):
        sources[row + 1] = sources[row]
        targets[row + 11] = targets[row + 10]
        sources[row + 21] = sources[row + 20].upper() + "!"
        targets[row + 31] = f"- {targets[row + 30]}."
    return ParallelText(sources, targets, [""] * 60)


def own_and_kin(row: int) -> set[int]:
    """Tell which rows are no negatives of a row: itself, and the sibling, if there is one."""
    return {row, row ^ 1} if row < 40 else {row}


def miner_of(
    pairs: ParallelText, encoders: tuple[SentenceEncoder, ...], **options: Any
) -> tuple[Miner, Step]:
    """Make a miner of towers that share nothing, or of one."""
    towers = [StaticTower(each) for each in encoders]
    x, y = towers[0], towers[-1]
    flags = MocoOptions(negatives=K, batch_size=20, **options)
    step = moco._Step(x, y, flags, 4, 4)
    rows = cut_pairs(pairs, x, y)
    return Miner(step, TrainingData(rows, np.ones(60), None, texts=pairs), flags), step


def by_margin(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], guide: NDArray[np.float64]
) -> list[list[int]]:
    """Choose the negatives of each of our sentences, pair by pair."""
    cosines, near = ours @ theirs.T, K + 4

    def margin(row: int, at: int) -> float:
        mean = np.sort(cosines[row])[-near:].mean() + np.sort(cosines[:, at])[-near:].mean()
        return float(cosines[row, at] / mean * 2)

    found = []
    for row in range(len(ours)):
        wrong = []
        for at in sorted(range(60), key=lambda at: -cosines[row, at])[:near]:
            judged = guide if guide.size else {(row, j): margin(row, j) for j in (at, row)}
            if at not in own_and_kin(row) and judged[row, at] < judged[row, row]:
                wrong.append((-margin(row, at), at))
        best = [at for _, at in sorted(wrong)][:K]
        found.append(best + [row] * (K - len(best)))
    return found


@pytest.mark.parametrize("is_guided", [False, True])
def test_they_are_the_nearest_that_are_neither_kin_nor_likely(
    toy_pairs: ParallelText, toy_encoder: SentenceEncoder, toy_folder: Path, is_guided: bool
) -> None:
    pairs = kindred(toy_pairs)
    other = SentenceEncoder(toy_encoder.body)  # two towers: no tokens to rerank by
    guide = {"guide": str(toy_folder)} if is_guided else {}
    miner, step = miner_of(pairs, (toy_encoder, other), **guide)
    tower = step.towers()[0]
    assert isinstance(tower, StaticTower)
    with torch.no_grad():  # worse than the guide, so that some negatives are as near as a pair
        noise = torch.randn(*tower.vectors.shape, generator=torch.Generator().manual_seed(1))
        tower.vectors.add_(0.5 * noise)
    found = miner.mine(ROWS[::-1].repeat(2), lambda _: None)
    assert (found[:, 0] == ROWS).all()
    x, y = (each.astype(np.float16).astype(np.float64) for each in step.embed(miner.data.rows))
    told = [
        toy_encoder.encode_half(side).astype(np.float64) for side in (pairs.sources, pairs.targets)
    ]
    cosines = told[0] @ told[1].T if is_guided else np.zeros((0, 0))
    assert found[:, 1 : K + 1].tolist() == by_margin(x, y, cosines)
    assert found[:, K + 1 :].tolist() == by_margin(y, x, cosines.T)
    assert (found[:, 1:] == ROWS[:, None]).any()  # some have fewer


def test_one_static_encoder_ranks_them_by_tokens(
    toy_pairs: ParallelText, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are near, none is likelier than the pair, the best first, by the scores of mining."""
    pairs = kindred(toy_pairs)
    miner, _ = miner_of(pairs, (toy_encoder,))
    scores: list[Any] = []
    given = miner._scores

    def noted(vectors: Any, near: Any, rows: Rows) -> Any:
        scores.append((near, *given(vectors, near, rows)))
        return scores[0][1:]

    monkeypatch.setattr(miner, "_scores", noted)
    found = miner.mine(ROWS, lambda _: None)
    ((near, forward, backward, own),) = scores
    for cells, odds, chosen in (
        (near.targets, forward, found[:, 1 : K + 1]),
        (near.sources, backward, found[:, K + 1 :]),
    ):
        for row in range(60):
            wrong = [
                (-odd, place, at)
                for place, (at, odd) in enumerate(zip(cells[row].tolist(), odds[row], strict=True))
                if at not in own_and_kin(row) and odd < own[row, 0]
            ]
            best = [at for *_, at in sorted(wrong)][:K]
            assert chosen[row].tolist() == best + [row] * (K - len(best))
    margins = miner_of(pairs, (toy_encoder, SentenceEncoder(toy_encoder.body)))[0]
    assert (margins.mine(ROWS, lambda _: None) != found).any()


def share(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[0] == other[0] or one[1] == other[1]


def unit(tower: Any, texts: list[str]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = tower.embed(tower.cut(texts)).double().numpy()
    return found


@pytest.mark.parametrize("method", ["msimcse", "moco", "transaug"])
@torch.no_grad()
def test_eq_1_has_them_below_the_line(
    method: str, toy_pairs: ParallelText, toy_encoder: SentenceEncoder
) -> None:
    """Those of all rows are negatives of a row, but what shares a text with the row is none."""
    pairs = [(toy_pairs.sources[row % 9], toy_pairs.targets[row % 7]) for row in range(30)]
    sides = [list(side) for side in zip(*pairs, strict=True)]
    tower = StaticTower(toy_encoder)
    rows = cut_pairs(ParallelText(sides[0], sides[1], [""] * 30), tower, tower)
    ahead, back = np.array([3, 9, 18, 17, 2, 25]), np.array([0, 12, 5, 28, 8, 8])
    here = np.array([0, 1, 2])
    taken = rows.take(here)
    batch = Rows(taken.columns, (rows.take(ahead), rows.take(back)))
    step: Step
    options: dict[str, Any] = {"temperature": 0.1, "negatives": 2}
    if method == "msimcse":
        both = MsimcseOptions(**options, symmetric=True)
        step = msimcse._Step(tower, both, 2, 1, across=True)
    elif method == "moco":
        step = moco._Step(tower, tower, MocoOptions(**options, in_batch_negatives=True), 4, 4)
    else:
        flags = TransaugOptions(**options, languages="zh,en", in_batch_negatives=True)
        step = transaug._Contrast(tower, StaticTower(toy_encoder), flags, 4, 4)
    found = list(step.losses(batch, np.random.default_rng(1)).values())
    x, y = unit(tower, sides[0]), unit(tower, sides[1])
    directions = [(x, y, ahead), (y, x, back)][2 - len(found) :]
    for loss, (ours, theirs, hard) in zip(found, directions, strict=True):
        total, masked = 0.0, 0
        for row in here:
            others = [at for at in [*here, *hard] if not share(pairs[at], pairs[row])]
            masked += 8 - len(others)
            below = sum(np.exp(ours[row] @ theirs[at] / 0.1) for at in [row, *others])
            total -= np.log(np.exp(ours[row] @ theirs[row] / 0.1) / below) / 3
        assert float(loss) == pytest.approx(total, rel=1e-4)
        assert masked >= 3 and total > 1e-3


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [10, 20]),  # half of the 20 steps of the first pass; the second begins with it
        ({"batch_size": 16, "epochs": 1}, [20]),
        ({"steps": 2, "refresh_negatives": 4, "method": "moco"}, [1]),
        ({"refresh_negatives": 4}, [10, 14, 18, 20, 24, 28, 32, 36]),
        ({"encoder": "the toy encoder"}, [0, 20]),
    ],
)
def test_a_new_encoder_has_them_once_its_first_steps_are_done(
    changes: dict[str, Any],
    expected: list[int],
    toy_pairs: ParallelText,
    toy_folder: Path,
    tmp_path: Path,
) -> None:
    flags: dict[str, Any] = {"batch_size": 64, "held_out": 200, "epochs": 2, "threads": 1, "dim": 8}
    flags |= {"vocabulary_size": 500, "encoder": "scratch"} | changes
    if flags["encoder"] != "scratch":
        flags |= {"encoder": str(toy_folder)}
    method, found = flags.pop("method", "msimcse"), list[list[float]]()
    for count in (0, 2):
        mined, losses = list[int](), list[float]()

        def watch(said: Progress, mined: list[int] = mined, losses: list[float] = losses) -> None:
            if "loss" in said.numbers:
                losses.append(said.numbers["loss"])
            elif said.stage == "mining negatives":
                mined.append(len(losses))

        options = METHODS[method].options(**flags, negatives=count)
        train(method, Corpus(pairs=toy_pairs), options, tmp_path / f"{count}", watch)
        assert mined == (expected if count else [])
        found.append(losses)
    first = expected[0]
    assert found[0][:first] == found[1][:first] and found[0][first] < found[1][first]


def test_what_has_no_use_for_them_says_so(toy_pairs: ParallelText, tmp_path: Path) -> None:
    corpus = Corpus(pairs=toy_pairs, texts=toy_pairs.sources[:50])
    options = MsimcseOptions(negatives=1, encoder="scratch", vocabulary_size=500)
    with pytest.raises(TrainingError, match="--negatives mines hard negatives of PAIRS"):
        train("msimcse", corpus, options, tmp_path / "encoder")
    asked = METHODS["emma-x"].options(negatives=1, encoder="scratch")
    assert "--negatives: no effect without a contrast of pairs" in remarks_on(asked, asked, corpus)
    guided = MsimcseOptions(guide="embedded", encoder="scratch")
    assert "guide: no effect with --negatives 0" in remarks_on(guided, guided, corpus)
