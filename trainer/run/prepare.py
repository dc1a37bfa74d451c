"""Options and a corpus -> what every method begins with: encoders to train, pairs cut for them."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import TrainingError, XmineWarning
from xmine.files.sealed_arrays import opened_sealed
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText
from xmine.pairs.language_pairs import LanguagePairs
from xmine.progress import Progress, Report
from xmine.run.steps import Steps
from xmine.text.packed import PackedTexts, picked

from ..data.corpus import Corpus
from ..data.inference import Triplets
from ..data.rows import (
    Rows,
    TokenizedSide,
    TrainingData,
    drawn,
    hold_out,
    keys_of_sides,
    weigh_pairs,
)
from ..data.vocabulary import train_shared_vocabulary, train_vocabulary
from ..distributed import broadcast, on_first_rank, processes
from ..models import tower_of
from ..models.static import new_static
from ..models.towers import Tower
from ..models.transformer import TransformerTower
from ..options.shared import SCRATCH, TrainingOptions
from .checkpoints import TrainingRun

_MANY = 1_000_000  # pairs whose tokens are kept on disk
_OF_SIDE = {"ids": np.int32, "starts": np.int64, "keys": np.int64}
OptionsT = TypeVar("OptionsT", bound=TrainingOptions)


def load_encoder(name: str, options: TrainingOptions) -> SentenceEncoder:
    """Load an encoder by folder, Hugging Face name, or `embedded`."""
    wanted = EncodingOptions(device=options.device, dtype=options.dtype)
    return SentenceEncoder.load(name, wanted)


def begin(
    name: str,
    options: TrainingOptions,
    texts: Sequence[Sequence[str]],
    run: TrainingRun,
    report: Report,
    split: "Split | None" = None,
) -> Tower:
    """Make the tower that training begins with, of an encoder's name or `scratch`.

    A new vocabulary is made of columns of text, the first half for one language; the first two may
    be those of a split of pairs.
    """
    vocabulary = partial(_vocabulary, options, texts, run, report, split)
    encoder = _new(options, vocabulary) if name == SCRATCH else load_encoder(name, options)
    tower = tower_of(encoder, options.prompts)
    tower.judged_place = options.judged_column
    if name == SCRATCH:
        tower.learning_rate = options.rate_of_new
    if isinstance(tower, TransformerTower):
        tower.body.dtype = encoder.dtype  # float16 too, for which `run_steps` scales the loss
        tower.tokens_at_once, tower.recompute = options.tokens_at_once, options.recompute
        if options.attention:
            tower.attend(options.attention)
        if options.pooling:
            tower.repool(options.pooling)
        if name != SCRATCH and options.max_tokens:
            tower.cut_after(options.max_tokens)
        if name != SCRATCH and options.dropout is not None:
            tower.drop(options.dropout)
        if options.token_dropout:
            refuse_one_piece(tower)
        if options.lora:
            tower.add_lora(options.lora, is_new=name == SCRATCH)
        tower.compiles = options.compile
    elif options.pooling not in ("", "mean"):
        raise TrainingError(
            f"{options.pooling} pooling: a static encoder takes the mean of its tokens",
            "leave it out",
        )
    return tower


def refuse_one_piece(tower: Tower) -> None:
    """Refuse to leave out pieces where the vector of one piece is the sentence's."""
    modes = tower.body.pooling.modes if isinstance(tower, TransformerTower) else ()
    if {"cls", "lasttoken"} & set(modes):
        raise TrainingError(
            "token_dropout: it would leave out the piece whose vector is the sentence's "
            f"({' + '.join(modes)} pooling)",
            "give a transformer dropout in place of it",
        )


def _new(options: TrainingOptions, vocabulary_of: Callable[[], Vocabulary]) -> SentenceEncoder:
    """Make an encoder that knows nothing, or what a static one knows."""
    start = None
    if options.start:
        body = load_encoder(options.start, options).body
        if not isinstance(body, StaticEmbedding) or not isinstance(body.pieces, Vocabulary):
            raise TrainingError(f"--start {options.start}: not a static encoder of xmine")
        start, vocabulary = body, body.pieces
    else:
        vocabulary = vocabulary_of()
    if options.architecture == "static":
        return new_static(vocabulary, options.dim, options.seed)
    from ..models.scratch import new_transformer

    return new_transformer(vocabulary, options, start)


def _vocabulary(
    options: TrainingOptions,
    texts: Sequence[Sequence[str]],
    run: TrainingRun,
    report: Report,
    split: "Split | None",
) -> Vocabulary:
    def make() -> None:
        if run.vocabulary() is not None:
            return
        report(Progress("vocabulary", 0, 1))
        size, sample, seed = options.vocabulary_size, options.vocabulary_sample, options.seed
        if split and (languages := split.seen.languages):
            weighed: list[tuple[Sequence[str], NDArray[np.float64]]] = [
                (found, split.weights[np.concatenate(rows)])
                for found, rows in texts_by_language(texts, languages).values()
            ]
            weighed += [(column, np.ones(len(column))) for column in texts[2:]]
            alpha = options.language_alpha
            vocabulary = train_shared_vocabulary(
                weighed, size, sample=sample, alpha=alpha, seed=seed
            )
        else:
            half = -(-len(texts) // 2)
            vocabulary = train_vocabulary(
                PackedTexts.of(chain.from_iterable(texts[:half])),
                PackedTexts.of(chain.from_iterable(texts[half:])),
                size,
                sample=sample,
                seed=seed,
            )
        vocabulary.save(run.folder)
        report(Progress("vocabulary", 1, 1))

    on_first_rank(make)
    vocabulary = run.vocabulary()
    assert vocabulary is not None
    return vocabulary


def texts_by_language(
    columns: Sequence[Sequence[str]], languages: LanguagePairs
) -> dict[str, tuple[list[str], list[NDArray[np.int64]]]]:
    """Gather the texts of each language, of sources and targets, and the rows of their pairs."""
    found: dict[str, tuple[list[str], list[NDArray[np.int64]]]] = {
        code: ([], []) for code in languages.languages
    }
    for codes, rows in zip(languages.codes, languages.rows(), strict=True):
        for code, column in zip(codes, columns, strict=False):
            found[code][0].extend(picked(column, rows))
            found[code][1].append(rows)
    return found


def with_rate(options: OptionsT, tower: Tower) -> OptionsT:
    """Fill in the learning rate that suits an encoder, where none was given."""
    return options if options.learning_rate else replace(options, learning_rate=tower.learning_rate)


@dataclass(frozen=True, slots=True)
class TrainedTowers:
    """What a method leaves.

    Attributes:
        towers: one encoder under an empty name, or several by name.
        measures: on the held-out pairs; empty if there are none.
        rows: how many were trained on.
        seen: the pairs among them, for the card.
        held_out: pairs that nothing was trained on, whose two sides one encoder reads.
        retrieved: what `measures` were made on.
    """

    towers: dict[str, Tower]
    measures: dict[str, float]
    rows: int
    seen: ParallelText | None = None
    held_out: ParallelText | None = None
    retrieved: str = "pairs"


@dataclass(frozen=True, slots=True)
class Split:
    """Pairs in two parts.

    Attributes:
        seen: to train on.
        weights: float64 [seen], the sampling weights.
        held_out: to measure on.
    """

    seen: ParallelText
    weights: NDArray[np.float64]
    held_out: ParallelText

    @classmethod
    def of(cls, pairs: ParallelText, options: TrainingOptions) -> "Split":
        """Hold some pairs out; the others, or so many as there may be, are for training.

        What is held out does not depend on how many that are, so that runs can be compared.
        """
        weights, alpha = options.source_weight, options.language_alpha
        wanted = weigh_pairs(pairs, weights, options.default_weight, alpha)
        rows, held = hold_out(pairs, wanted, options.held_out, options.seed)
        seen, visited = pairs.take(rows), wanted[rows]
        if options.limit_pairs:
            seen = seen.take(drawn(len(seen), options.limit_pairs, options.seed))
            left = {name: weights[name] for name in weights.keys() & set(seen.origins)}
            visited = weigh_pairs(seen, left, options.default_weight, alpha)
        return cls(seen, visited, pairs.take(held))

    def cut(self, source: Tower, target: Tower, run: TrainingRun) -> TrainingData:
        """Cut both parts into the pieces of the towers, once for all passes and processes."""
        return TrainingData(
            rows=kept_rows(run, len(self.seen), lambda: cut_pairs(self.seen, source, target)),
            weights=self.weights,
            held_out=cut_pairs(self.held_out, source, target),
            languages=self.seen.languages,
            held_out_languages=self.held_out.languages,
            texts=self.seen,
        )


def kept_rows(run: TrainingRun, count: int, cut: Callable[[], Rows]) -> Rows:
    """Cut rows; many, or those of several processes, in the first, into files that all map.

    The files are named by what they hold, which pairs, tokenizer and prompts decide: no others can
    be taken for them, and a resumed run writes those that are missing or damaged.
    """
    if count < _MANY and processes() == 1:
        return cut()
    columns: list[list[Path]] = []

    def tell(path: Path) -> None:
        said = f"{path}: changed since it was written: made again"
        warnings.warn(said, XmineWarning, stacklevel=2)

    def write() -> None:
        steps = Steps(run.folder / f"{run.name}tokens", changed=tell)
        for at, side in enumerate(cut().columns):
            columns.append([steps.put(f"{at}-{name}", getattr(side, name)) for name in _OF_SIDE])

    on_first_rank(write)
    types = _OF_SIDE.values()
    return Rows(
        tuple(TokenizedSide(*map(opened_sealed, each, types)) for each in broadcast(columns))
    )


def entailed_apart(
    tables: Sequence[Triplets], options: TrainingOptions
) -> tuple[tuple[Triplets, ...], ParallelText]:
    """Keep some triplets apart: retrieval of what is entailed tells how it goes.

    Returns:
        The others in all languages, and (anchor, entailed) of those in the first language.
    """
    first = tables[0]  # `Corpus.read` has seen that all have as many rows
    entailed = ParallelText(first.anchors, first.positives, [""] * len(first))
    rows, held = hold_out(entailed, np.ones(len(first)), options.held_out, options.seed, "triplets")
    return tuple(each.take(rows) for each in tables), entailed.take(held)


def texts_apart(corpus: Corpus, options: TrainingOptions) -> tuple[Corpus, ParallelText]:
    """Keep some texts apart, long ones rather: retrieval of one half by the other is measured.

    Returns:
        The corpus without them, and the halves of each as a pair.
    """
    whole = ParallelText(corpus.texts, corpus.texts, [""] * len(corpus.texts))
    lengths = np.fromiter(map(len, corpus.texts), np.float64)
    rows, held = hold_out(whole, lengths, options.held_out, options.seed, "texts")
    halves = [halves_of(corpus.texts[row]) for row in held.tolist()]
    files = corpus.text_files
    left = replace(
        corpus, texts=picked(corpus.texts, rows), text_files=files[rows] if len(files) else files
    )
    firsts, seconds = map(list, zip(*halves, strict=True))
    return left, ParallelText(firsts, seconds, [""] * len(halves))


def halves_of(text: str) -> tuple[str, str]:
    """Cut a text at the space that is nearest to its middle, or in the middle."""
    text = text.strip()
    middle = len(text) // 2
    spaces = [at for at, character in enumerate(text) if character == " "]
    cut = min(spaces, key=lambda at: abs(at - middle), default=middle)
    return text[:cut], text[cut:]


def tuned_apart(
    triplets: Triplets, options: TrainingOptions
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Hold a twentieth of the triplets out that an encoder is tuned on at last: (seen, held)."""
    pairs = ParallelText(triplets.anchors, triplets.positives, [""] * len(triplets))
    count = max(1, min(options.held_out, len(triplets) // 20))
    return hold_out(pairs, np.ones(len(triplets)), count, options.seed, "triplets")


def cut_pairs(pairs: ParallelText, source: Tower, target: Tower) -> Rows:
    """Cut pairs into the pieces of two towers, perhaps the same; keys as in `keys_of_sides`."""
    sides = source.cut(pairs.sources, 0), target.cut(pairs.targets, 1)
    if pairs.languages is None:
        return Rows(sides)
    keys = keys_of_sides(pairs)
    return Rows(tuple(replace(side, keys=each) for side, each in zip(sides, keys, strict=True)))


def needed_pairs(corpus: Corpus, method: str) -> ParallelText:
    """Give the pairs of a corpus."""
    if corpus.pairs is None:
        raise TrainingError(
            f"--method {method} learns from translations, and there are none",
            f"xmine train --method {method} PAIRS",
        )
    for side, texts in (("source", corpus.pairs.sources), ("target", corpus.pairs.targets)):
        if not any(text and not text.isspace() for text in texts):
            raise TrainingError(
                f"the {side} language is empty: {len(texts):,} blank sentences",
                "give pairs with text on both sides",
            )
    return corpus.pairs


def needed_triplets(corpus: Corpus) -> Triplets:
    """Give the triplets of a corpus."""
    if len(corpus.triplets) == 1:
        return corpus.triplets[0]
    raise TrainingError(
        "--method transaug --stage nli learns from triplets of one language, and there are "
        + (f"files of {len(corpus.triplets)}" if corpus.triplets else "none"),
        "give one file of --triplets",
    )
