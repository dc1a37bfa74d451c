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

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import Optimizer

from xmine.encoders.modules.heads import on_device
from xmine.errors import TrainingError
from xmine.progress import Report
from xmine.text.packed import PackedTexts

from ..data.corpus import Corpus
from ..data.rows import Rows, TokenizedSide, TrainingData
from ..distributed import part_of, processes
from ..losses.with_queue import Member, contrast_in_batch
from ..models.teacher import Lessons, Teacher
from ..models.towers import Tower, adamw, cut_together, joined, unit_rows
from ..options.contrast import MsimcseOptions
from ..options.shared import SCRATCH
from ..run.checkpoints import TrainingRun
from ..run.languages import tell_languages
from ..run.loop import run_steps
from ..run.prepare import (
    Split,
    TrainedTowers,
    begin,
    cut_pairs,
    entailed_apart,
    kept_rows,
    load_encoder,
    refuse_one_piece,
    texts_apart,
    with_rate,
)
from ..run.step import Step, drop_tokens

# Pieces left out of a text with nothing else to tell x from x+ (docs/methods/msimcse.md).
_SHARE = 0.5
_TWO_VIEWS = (
    f"the encoder has no dropout: the two views of a text were {_SHARE:.0%} of its tokens each, "
    "drawn at random; token_dropout gives another share"
)

_ONE_LANGUAGE = (
    "what other languages than those of --texts lose is not measured; give PAIRS too, of which "
    "some are held out"
)


def train(
    corpus: Corpus, options: MsimcseOptions, run: TrainingRun, report: Report
) -> TrainedTowers:
    """Train one encoder on whatever the corpus has."""
    if not (corpus.pairs or corpus.triplets or corpus.texts):
        raise TrainingError(
            "--method msimcse has nothing to learn from", "give PAIRS, --triplets or --texts"
        )
    if options.negatives and (corpus.triplets or corpus.texts or not corpus.pairs):
        raise TrainingError(
            "--negatives mines hard negatives of PAIRS, and there is other data",
            "give PAIRS alone, or leave it out: --triplets have negatives of their own",
        )
    split, whole = Split.of(corpus.pairs, options) if corpus.pairs else None, corpus
    retrieved = "pairs"
    if split:
        corpus, held_out = replace(corpus, pairs=split.seen), split.held_out
    elif corpus.triplets:
        triplets, held_out = entailed_apart(corpus.triplets, options)
        corpus, retrieved = replace(corpus, triplets=triplets), "pairs of triplets"
    else:
        corpus, held_out = texts_apart(corpus, options)
        retrieved = "pairs of half texts"
        run.log(step=0, remark=_ONE_LANGUAGE)
    several, taught_by = split.seen.languages if split else None, None
    if options.teacher:
        if corpus.triplets or not split or options.encoder != SCRATCH or options.start:
            raise TrainingError("--teacher teaches a new encoder by PAIRS, with or without --texts")
        taught_by = load_encoder(options.teacher, options)
    tower = begin(options.encoder, options, list(corpus.every_text()), run, report, split)
    teacher = Teacher(taught_by, tower, options.teacher) if taught_by else None
    options = with_rate(options, tower)
    drops = bool(corpus.texts) and _needs_token_dropout(tower, corpus.texts[0], options)
    if drops:
        run.log(step=0, remark=_TWO_VIEWS)
    told = tell_languages(corpus, options.codes)
    weights_of_texts = told.sampling_weights(options.codes, run)
    columns, weights = _columns_of(
        corpus, split.weights if split else None, options, weights_of_texts
    )
    if several:  # and what is in no pair of languages
        others = np.full(len(weights) - len(several.of_rows), len(several.codes))
        several = replace(several, of_rows=np.concatenate([several.of_rows, others]))
    places = _places_of(corpus, told.languages, len(columns))
    data = TrainingData(
        kept_rows(run, len(weights), lambda: Rows(cut_together(tower, columns, places))),
        weights,
        cut_pairs(held_out, tower, tower),
        several,
        held_out.languages,
        split.seen if split else None,
    )
    languages = max(1, len(corpus.triplets))
    lessons = None
    if teacher and options.teacher_weight:
        whole = corpus if options.limit_pairs else whole
        assert whole.pairs  # of which those that no pass takes need not be read
        weights_of = options.source_weight
        taken = [weights_of.get(each, options.default_weight) > 0 for each in whole.pairs.origins]
        whole = replace(whole, pairs=whole.pairs.take(np.flatnonzero(taken)))
        lessons = teacher.lessons(
            whole, options.codes, columns, data.rows.columns, run.folder, report
        )
    step = _Step(
        tower,
        options,
        len(columns) // languages,
        languages,
        drops_pieces=drops,
        across=several is not None or options.negatives > 0,
        taught=(teacher.axes, lessons) if teacher and lessons else None,
    )
    measures = run_steps(step, data, options, run, report)
    seen, apart = (split.seen, split.held_out) if split else (None, None)
    return TrainedTowers({"": tower}, measures, len(data.rows), seen, apart, retrieved)


def _needs_token_dropout(tower: Tower, text: str, options: MsimcseOptions) -> bool:
    """Tell whether nothing makes two views of a text: no dropout of the encoder, none of pieces."""
    if options.token_dropout or tower.varies(text):
        return False
    if options.token_dropout is None:
        refuse_one_piece(tower)
        return True
    raise TrainingError(
        "--texts and token_dropout 0: the encoder has no dropout, so both views of a text would "
        "be the same",
        f"leave token_dropout out, which is {_SHARE} then",
    )


def _columns_of(
    corpus: Corpus,
    weights_of_pairs: NDArray[np.float64] | None,
    options: MsimcseOptions,
    weights_of_texts: NDArray[np.float64] | None = None,
) -> tuple[Sequence[Sequence[str]], NDArray[np.float64]]:
    """Put the strategies one behind the other, each as (x, x+) or (x, x+, x-) in all languages.

    Returns:
        2 or 3 columns for each language of the triplets, or for one: all members of the first
        language, then all of the second, and so on; and float64 [rows], the sampling weights.
    """
    languages = max(1, len(corpus.triplets))
    parts: list[list[Sequence[str]]] = []  # by strategy and column
    weights: list[NDArray[np.float64]] = []
    if corpus.pairs and weights_of_pairs is not None:
        parts.append([corpus.pairs.sources, corpus.pairs.targets] * languages)
        weights.append(weights_of_pairs)
    if corpus.texts:
        parts.append([corpus.texts, corpus.texts] * languages)
        once = np.ones(len(corpus.texts))
        weights.append(once if weights_of_texts is None else weights_of_texts)
    if corpus.triplets:
        members = slice(2 if parts or options.drop_hard_negatives else 3)
        parts.append([one for each in corpus.triplets for one in each.columns()[members]])
        weights.append(np.ones(len(corpus.triplets[0])))
    if len(parts) == 1:
        return parts[0], weights[0]
    columns = [PackedTexts.of(chain.from_iterable(each)) for each in zip(*parts, strict=False)]
    return columns, np.concatenate(weights)


def _places_of(corpus: Corpus, told: NDArray[np.int64], columns: int) -> list[NDArray[np.int64]]:
    """Give the places of the languages of the columns' texts, as `Tower.cut` takes them."""
    members, found = columns // max(1, len(corpus.triplets)), []
    for at in range(columns):
        parts = [np.full(len(corpus.pairs or ()), at % members), told]
        parts += [np.full(len(table), at // members) for table in corpus.triplets[:1]]
        found.append(np.concatenate(parts))
    return found


class _Step(Step):
    """One batch: eq. 1, one way unless `symmetric`."""

    takes_negatives = True

    axes: Tensor | None

    def __init__(
        self,
        tower: Tower,
        options: MsimcseOptions,
        members: int,
        languages: int,
        *,
        drops_pieces: bool = False,
        across: bool = False,
        taught: tuple[Tensor, Lessons] | None = None,
    ) -> None:
        """Take an encoder.

        Args:
            tower: the encoder.
            options: of the method.
            members: of a row in one language.
            languages: of the triplets.
            drops_pieces: whether pieces are left out of rows whose x+ is x itself.
            across: whether the x of a row may be the x+ of another, which stands for it.
            taught: the axes and the lessons of a teacher, if there is one.
        """
        super().__init__()
        if wide := [each for each in options.matryoshka if int(each) >= tower.dim]:
            raise TrainingError(f"--matryoshka {wide[0]}: vectors have {tower.dim} numbers")
        self.across = across
        self.drops_pieces = drops_pieces
        self.lessons = taught[1] if taught else None
        self.register_buffer("axes", taught[0].to(tower.device) if taught else None)
        self.tower = tower
        self.options = options
        self.members, self.languages = members, languages
        self.head: nn.Module = nn.Identity()
        if options.training_head:  # SimCSE's `mlp_only_train`
            self.head = nn.Sequential(nn.Linear(tower.dim, tower.dim), nn.Tanh()).to(tower.device)

    def losses(self, batch: Rows, random: np.random.Generator) -> dict[str, Tensor]:
        x, x_plus, *x_minus = self._members(batch, random)
        hard = [*x_minus, None, None]
        for at, rows in enumerate(batch.negatives[: 1 + self.options.symmetric]):
            column, other = rows.columns[1 - at], rows.columns[at]
            read = drop_tokens([column], self.options.token_dropout, random)
            vectors = unit_rows(self.head(self.tower(*read)))
            texts = np.stack([column.keys, column.keys, other.keys], axis=1)  # as of members
            hard[at] = Member(vectors, on_device(texts, vectors.device))
        losses = {"source_to_target": self._contrast(x, x_plus, hard[0])}
        if self.options.symmetric:
            losses["target_to_source"] = self._contrast(x_plus, x, hard[1])
        if self.lessons and self.axes is not None:
            said = self.lessons.of(batch.columns[:2]).to(self.axes.device)
            taught = Member(unit_rows(said @ self.axes), x.texts)
            both = self._contrast(x, taught) + self._contrast(x_plus, taught)
            losses["teacher"] = self.options.teacher_weight * both / 2
        return losses

    def _members(self, batch: Rows, random: np.random.Generator) -> list[Member]:
        drawn = self._drawn(batch, random)  # x, x+ and perhaps x-
        share: float | NDArray[np.float64] | None = self.options.token_dropout
        if self.drops_pieces:  # where x+ is the text of x: float64 [rows]
            share = np.where(drawn[0].keys == drawn[1].keys, _SHARE, 0.0)
        read = drop_tokens(drawn, share, random)
        vectors = unit_rows(self.head(self.tower(*read)))  # [members * rows, dim]
        texts = [[each.keys for each in batch.columns[: self.members]], [x.keys for x in drawn]]
        if self.across:  # and the text of the other member, x+ for x and x for x+
            texts.append(texts[1][::-1])
        return [
            Member(rows, on_device(np.stack(keys, axis=1), rows.device))
            for rows, *keys in zip(vectors.chunk(len(drawn)), *texts, strict=True)
        ]

    def _drawn(self, batch: Rows, random: np.random.Generator) -> list[TokenizedSide]:
        """Draw a language for each member of each row (A-06)."""
        if self.languages == 1:
            return list(batch.columns)
        count = len(batch)
        drawn = []
        for member in range(self.members):
            languages = joined(batch.columns[member :: self.members])  # all rows of each language
            chosen = random.integers(self.languages, size=count * processes())
            chosen = chosen[part_of(len(chosen))]
            drawn.append(languages.take(chosen * count + np.arange(count)))
        return drawn

    def _contrast(self, x: Member, y: Member, negatives: Member | None = None) -> Tensor:
        """Eq. 1, of whole vectors and of their first numbers as --matryoshka has them: the mean."""
        losses = [
            contrast_in_batch(
                x.shortened(dim),
                y.shortened(dim),
                negatives and negatives.shortened(dim),
                1 / self.options.temperature,
                hard_negative_weight=self.options.hard_negative_weight,
            )
            for dim in (self.tower.dim, *map(int, self.options.matryoshka))
        ]
        return torch.stack(losses).mean()

    def optimizers(self, learning_rate: float) -> list[Optimizer]:
        decay = self.options.weight_decay
        found = self.tower.optimizers(learning_rate, decay)
        if self.options.training_head:
            found.append(adamw(self.head, learning_rate, decay))
        return found
