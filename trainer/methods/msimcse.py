"""mSimCSE: in-batch contrastive learning of one encoder for all languages.

Wang, Wu, Neubig (2022), "English Contrastive Learning Can Learn Universal Cross-lingual Sentence
Embeddings". One loss (eq. 1), and what stands for a sentence x and its positive x+ is the strategy:

    unsupervised        x twice, with two dropout masks               `texts`
    English NLI         what x entails, and what contradicts it       `triplets`, one table
    cross-lingual NLI   the same, each in a language drawn at random  `triplets`, several tables
    parallel            the translation of x                          `pairs`

What is given decides; several of them are mixed. Contradictions are hard negatives of all rows, and
are left out where a part of the mixture has none.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from xmine.errors import TrainingError
from xmine.progress import Report
from xmine.trainer.checkpoints import Run
from xmine.trainer.contrast import contrast_in_batch
from xmine.trainer.corpus import Corpus
from xmine.trainer.data import Rows, Side, TrainingData, cut_together
from xmine.trainer.distributed import World
from xmine.trainer.heads import TanhHead
from xmine.trainer.loop import run_steps
from xmine.trainer.options import MsimcseOptions
from xmine.trainer.prepare import Made, Split, begin, with_rate
from xmine.trainer.step import Step
from xmine.trainer.towers import Tower, adamw, joined, unit_rows


def train(corpus: Corpus, options: MsimcseOptions, run: Run, report: Report) -> Made:
    """Train one encoder on whatever the corpus has.

    Raises:
        TrainingError: there is nothing to train on, or too little; or the loss is no longer a
            number.
    """
    split = Split.of(corpus.pairs, options) if corpus.pairs else None
    texts = list(corpus.every_text())
    if not texts:
        raise TrainingError(
            "--method msimcse has nothing to learn from", "give PAIRS, --triplets or --texts"
        )
    if split:
        texts[:2] = split.seen.sources, split.seen.targets
    tower = begin(options.encoder, options, texts, run, report)
    options = with_rate(options, tower)
    data = _rows_of(corpus, split, tower, options)
    languages = max(1, len(corpus.triplets))
    step = _Step(tower, options, len(data.rows.columns) // languages, languages)
    measures = run_steps(step, data, options, run, report)
    return Made({"": tower}, measures, len(data.rows), split.seen if split else None)


def _rows_of(
    corpus: Corpus, split: Split | None, tower: Tower, options: MsimcseOptions
) -> TrainingData:
    """Put the strategies one behind the other, each as (x, x+) or (x, x+, x-) in all languages.

    Returns:
        Rows of 2 or 3 columns for each language of the triplets, or for one: all members of the
        first language, then all of the second, and so on.
    """
    languages = max(1, len(corpus.triplets))
    parts: list[list[list[str]]] = []  # by strategy and column
    visits: list[NDArray[np.float64]] = []
    if split:
        parts.append([list(split.seen.sources), list(split.seen.targets)] * languages)
        visits.append(split.visits)
    if corpus.texts:
        parts.append([list(corpus.texts), list(corpus.texts)] * languages)
        visits.append(np.ones(len(corpus.texts)))
    if corpus.triplets:
        members = slice(2 if parts or options.drop_hard_negatives else 3)
        tables = [each.columns()[members] for each in corpus.triplets]
        parts.append([list(column) for table in tables for column in table])
        visits.append(np.ones(len(corpus.triplets[0])))
    columns = [[text for part in parts for text in part[at]] for at in range(len(parts[-1]))]
    held_out = split.cut(tower, tower).held_out if split else None
    return TrainingData(Rows(cut_together(tower, columns)), np.concatenate(visits), held_out)


class _Step(Step):
    """One batch: eq. 1, one way unless `symmetric`."""

    def __init__(self, tower: Tower, options: MsimcseOptions, members: int, languages: int) -> None:
        super().__init__()
        self.tower = tower
        self.options = options
        self.members, self.languages = members, languages
        self.head: nn.Module = TanhHead(tower) if options.training_head else nn.Identity()

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        decay = self.options.weight_decay
        found = self.tower.optimizers(learning_rate, decay)
        if self.options.training_head:
            found.append(adamw(self.head, learning_rate, decay))
        return found

    def towers(self) -> tuple[Tower, Tower]:
        return self.tower, self.tower

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        members = self._drawn(batch, random)  # x, x+ and perhaps x-
        if self.options.piece_dropout:
            share = self.options.piece_dropout
            members = [each.without_some(share, random) for each in members]
        rows = unit_rows(self.head(self.tower(*members)))  # [members * rows, dim]
        vectors = rows.chunk(len(members))  # [rows, dim] each
        texts = [torch.from_numpy(each.keys).to(rows.device) for each in members]  # [rows] each
        scale, weight = 1 / self.options.temperature, self.options.hard_negative_weight
        losses = {"source_to_target": contrast_in_batch(vectors, texts, scale, weight)}
        if self.options.symmetric:
            back = slice(1, None, -1)  # x+, x
            losses["target_to_source"] = contrast_in_batch(vectors[back], texts[back], scale)
        return losses

    def _drawn(self, batch: Rows, random: np.random.Generator) -> list[Side]:
        """Draw a language for each member of each row (A-06)."""
        if self.languages == 1:
            return list(batch.columns)
        count, world = len(batch), World.here()
        drawn = []
        for member in range(self.members):
            languages = joined(batch.columns[member :: self.members])  # all rows of each language
            chosen = random.integers(self.languages, size=count * world.size)
            chosen = chosen[world.part(len(chosen))]
            drawn.append(languages.take(chosen * count + np.arange(count)))
        return drawn
