"""mSimCSE as its paper says, in float64 and loops, beside ours step by step.

Wang, Wu, Neubig (2022): eq. 1 with SimCSE's temperature, what x, x+ and x- are in each strategy,
and the layer that training alone has. Texts repeat, so that masks matter (A-07): a sentence that is
x or x+ by its text is no negative of the row.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.toys.twin_training import (
    Weight,
    beside,
    compare_weights,
    in_float64,
    pieces_of,
    read,
    unit,
    weights_of,
    without_some,
)
from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.data.rows import Rows
from xmine.trainer.methods.msimcse import _columns_of, _Step
from xmine.trainer.models.scratch import new_transformer
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.models.towers import Tower, cut_together
from xmine.trainer.models.transformer import TransformerTower
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.run.step import Step

BATCH, STEPS = 8, 5
USUAL: dict[str, Any] = dict(temperature=0.1, batch_size=BATCH, steps=STEPS, epochs=1)
USUAL |= dict(learning_rate=0.02, threads=1)
# The sentences x, x+ and perhaps x- of a row, in each language.
Row = list[list[str]]


@dataclass
class Sentence:
    """A member of a row: as it was drawn, and as it stands in the first language."""

    vector: Tensor
    drawn: str
    first: str

    def is_as(self, other: "Sentence") -> bool:
        return self.drawn == other.drawn or self.first == other.first


@dataclass
class Paper:
    """The method: what it trains, and what it learns from."""

    tower: Tower
    rows: list[Row]
    options: MsimcseOptions
    head: nn.Linear | None = None
    halves: bool = False  # whether half of the pieces is left out where x and x+ are one text
    seen: set[int] = field(default_factory=set)
    masked: int = 0
    languages: list[tuple[int, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tower.train()

    def weights(self) -> list[Weight]:
        rate, decay = self.options.learning_rate, self.options.weight_decay
        found = weights_of(self.tower, rate, decay)
        return found + (weights_of(self.head, rate, decay) if self.head else [])

    def losses(self, rows: Sequence[int], random: np.random.Generator) -> dict[str, Tensor]:
        members = self.members([self.rows[row] for row in rows], random)
        x, entailed = members[:2]
        hard = members[2] if len(members) == 3 else []
        losses = {"source_to_target": self.contrast(x, entailed, hard)}
        if self.options.symmetric:
            losses["target_to_source"] = self.contrast(entailed, x, [])
        return losses

    def members(self, rows: list[Row], random: np.random.Generator) -> list[list[Sentence]]:
        """Read all x, all x+ and all x-, each in a language of its own."""
        languages, count = len(rows[0]), len(rows[0][0])
        drawn = [[0] * len(rows) for _ in range(count)]
        if languages > 1:
            drawn = [random.integers(languages, size=len(rows)).tolist() for _ in range(count)]
            self.languages += zip(*drawn, strict=True)
        texts = [
            [row[language][member] for row, language in zip(rows, drawn[member], strict=True)]
            for member in range(count)
        ]
        pieces = []
        for each in texts:
            cut = pieces_of(self.tower, each)
            if self.halves:
                cut = without_some(
                    cut, [0.5 * (x == y) for x, y in zip(*texts, strict=True)], random
                )
            elif self.options.token_dropout:
                cut = without_some(cut, self.options.token_dropout, random)
            pieces += cut
        self.seen = {piece for each in pieces for piece in each}
        vectors = read(self.tower, pieces)  # in one pass, so that dropout differs
        if self.head:
            vectors = torch.tanh(vectors @ self.head.weight.T + self.head.bias)
        made = unit(vectors).chunk(count)
        return [
            [
                Sentence(vector, text, row[0][member])
                for vector, text, row in zip(made[member], texts[member], rows, strict=True)
            ]
            for member in range(count)
        ]

    def contrast(self, *columns: list[Sentence]) -> Tensor:
        """The mean of the losses of whole vectors and of their first numbers."""
        total, widths = torch.zeros(()), [None, *map(int, self.options.matryoshka)]
        for width in widths:
            short = [
                [replace(x, vector=unit(x.vector[None, :width])[0]) for x in each]
                for each in columns
            ]
            total = total + self.contrast_of(*short)
        return total / len(widths)

    def contrast_of(
        self, anchors: list[Sentence], positives: list[Sentence], hard: list[Sentence]
    ) -> Tensor:
        """Eq. 1: -log of the share of x+ in the sum over all x+ and all x- of the batch."""
        tau, total = self.options.temperature, torch.zeros(())
        for i, (x, own) in enumerate(zip(anchors, positives, strict=True)):
            above = (x.vector @ own.vector / tau).exp()
            below = above
            for j, other in enumerate(positives):
                same = x.is_as(anchors[j]) or own.is_as(other) or x.is_as(other)
                self.masked += same and i != j
                if i != j and not same:
                    below = below + (x.vector @ other.vector / tau).exp()
            for j, other in enumerate(hard):
                same = other.is_as(x) or other.is_as(own)
                self.masked += same
                if not same:
                    weight = self.options.hard_negative_weight if i == j else 0.0
                    below = below + (x.vector @ other.vector / tau + weight).exp()
            total = total - (above / below).log()
        return total / len(anchors)

    def read_pieces(self) -> set[int]:
        return self.seen

    def finish(self) -> None:
        pass

    def compare(self, step: Step) -> None:
        assert isinstance(step, _Step)
        compare_weights(step.tower, self.tower)
        if self.head:
            compare_weights(step.head, self.head)


def pool(texts: list[str], language: int) -> list[str]:
    """Give sentences of which those of a second language are fewer: two have one translation."""
    return [texts[number // (language + 1)] for number in range(14)]


def triplets_of(texts: list[str], language: int) -> Triplets:
    """Make triplets of few sentences, so that one is x here, x+ there and x- elsewhere."""
    own = pool(texts, language)
    places = [[(row * step + first) % 14 for row in range(40)] for step, first in PLACES]
    return Triplets(*([own[at] for at in each] for each in places))


PLACES = ((5, 0), (3, 1), (9, 4))  # of x, x+ and x-
CORPORA: dict[str, tuple[str, ...]] = {
    "pairs": ("pairs",),
    "texts": ("texts",),
    "triplets": ("en",),
    "in two languages": ("en", "zh"),
    "in three languages": ("en", "zh", "xx"),
    "all": ("pairs", "texts", "en", "zh"),
    "pairs and triplets": ("pairs", "en"),
}
HARD = {"hard_negative_weight": 1.3}
PAPER = {"schedule": "linear", "warmup": 0.3, "clip": 0.5, "weight_decay": 0.3}
TRAINED = {"training_head": True, "learning_rate": 0.003}
# name: corpus, dropout of a transformer (None: static), options
CASES: dict[str, tuple[str, float | None, dict[str, Any]]] = {
    "pairs": ("pairs", None, {}),
    "pairs, both ways": ("pairs", None, {"symmetric": True, "clip": 0.2}),
    "texts, pieces": ("texts", None, {"token_dropout": 0.5}),
    "texts, halves": ("texts", None, {}),
    "texts, dropout": ("texts", 0.3, PAPER | TRAINED),
    "triplets": ("triplets", None, HARD),
    "triplets, a head": ("triplets", 0.2, PAPER | TRAINED),
    "triplets, both ways": (
        "triplets",
        None,
        HARD | {"symmetric": True, "training_head": True, "matryoshka": ["3", "5"]},
    ),
    "no contradictions": ("triplets", None, {"drop_hard_negatives": True}),
    "two languages": ("in two languages", None, HARD | {"token_dropout": 0.2}),
    "three languages": ("in three languages", None, {"symmetric": True}),
    "no contradictions in two": ("in two languages", None, {"drop_hard_negatives": True}),
    "a mixture": ("all", None, HARD | {"symmetric": True}),
    "a mixture, halves": ("all", None, {}),
    "a mixture in one": ("pairs and triplets", None, {"token_dropout": 0.3}),
}


def corpus_of(kinds: tuple[str, ...], pairs: ParallelText) -> Corpus:
    tongues = {"en": pairs.sources, "zh": pairs.targets, "xx": pairs.sources[200:]}
    few = ParallelText(
        [pairs.sources[row % 11] for row in range(40)],
        [pairs.targets[row % 9] if row % 5 else pairs.sources[row % 7] for row in range(40)],
        [""] * 40,
    )
    spoken = [each for each in kinds if each in tongues]
    return Corpus(
        pairs=few if "pairs" in kinds else None,
        texts=[pairs.sources[row % 17] for row in range(40)] if "texts" in kinds else (),
        triplets=tuple(triplets_of([*tongues[code]], at) for at, code in enumerate(spoken)),
    )


def count_rows(corpus: Corpus, options: MsimcseOptions) -> list[Row]:
    """Write the strategies' rows down; where one has no x-, none has."""
    languages = max(1, len(corpus.triplets))
    rows: list[Row] = []
    if corpus.pairs:
        pairs = zip(corpus.pairs.sources, corpus.pairs.targets, strict=True)
        rows += [[[x, y]] * languages for x, y in pairs]
    rows += [[[text, text]] * languages for text in corpus.texts]
    members = 2 if rows or options.drop_hard_negatives else 3
    for at in range(len(corpus.triplets[0]) if corpus.triplets else 0):
        row = [
            [each.anchors[at], each.positives[at], each.negatives[at]] for each in corpus.triplets
        ]
        rows.append([each[:members] for each in row])
    return rows


def tower_of(vocabulary: Vocabulary, dropout: float | None) -> Tower:
    if dropout is None:
        return StaticTower(new_static(vocabulary, 8, seed=1)).double()
    flags: dict[str, Any] = {"architecture": "transformer", "dim": 8, "layers": 1, "heads": 2}
    flags |= {"max_tokens": 24, "dtype": "float32", "dropout": dropout}
    return TransformerTower(new_transformer(vocabulary, MsimcseOptions(**flags))).double()


@pytest.mark.parametrize("name", CASES)
def test_ours_is_the_paper(
    name: str, toy_vocabulary: Vocabulary, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    kinds, dropout, flags = CASES[name]
    options = MsimcseOptions(**USUAL | flags)
    corpus = corpus_of(CORPORA[kinds], toy_pairs)
    weights = np.ones(40) if corpus.pairs else None
    languages = max(1, len(corpus.triplets))
    with in_float64():
        tower = tower_of(toy_vocabulary, dropout)
        columns, _ = _columns_of(corpus, weights, options)
        members, halves = len(columns) // languages, "halves" in name
        step = _Step(tower, options, members, languages, drops_pieces=halves)
        head = copy.deepcopy(cast("Any", step.head)[0]) if options.training_head else None
        paper = Paper(copy.deepcopy(tower), count_rows(corpus, options), options, head, halves)
        rows = Rows(cut_together(tower, columns))
        assert len(rows) == len(paper.rows)
        first: list[dict[str, Tensor]] = []
        done = beside(step, paper, rows, options, tmp_path / "run", first.append)
    assert done == STEPS and min(loss for each in first for loss in each.values()) > 0.1
    assert paper.masked >= 10
    drawn = set(paper.languages)
    assert len(drawn) > members if languages > 1 else not drawn  # members apart from each other
