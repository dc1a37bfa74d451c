"""Pairs with a language that a static encoder reads -> a pack by which it reads another language.

The encoder stays as it is: the sentences of its language are fixed points, to which those of the
new language are drawn, as a student learns its teacher's space (Reimers & Gurevych, 2020). Learnt
are the vectors of pieces that stand in the new language rather than in the known one, of letter
n-grams (Bojanowski et al., 2017), and of new pieces where the script is unknown.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from xmine.display import count
from xmine.encoders.encoder import SentenceEncoder, encoder_digest
from xmine.encoders.letter_grams import frequent_grams
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.packs import Pack, PackedPieces
from xmine.encoders.tokenizer import Ids, Vocabulary
from xmine.errors import TrainingError
from xmine.evaluation.retrieval.aligned import retrieval_accuracy
from xmine.pairs.io import ParallelText
from xmine.progress import Progress, Report, silent
from xmine.text.identification import guess_language
from xmine.text.languages import UNKNOWN_LANGUAGE, language_name, short_code
from xmine.text.packed import picked

from .data.rows import TokenizedSide, hold_out, weigh_pairs
from .data.vocabulary import more_pieces
from .models.static import RowAdam, piece_sums
from .options.extend import ExtendOptions

_FEWEST = 100  # pairs
_HELD_OUT = 1000  # pairs, but no more than a tenth
_DROPPED = 0.3  # of the pieces and n-grams of a sentence in a step
_WARMUP = 20  # steps
_RARE = 3  # an n-gram that is seen less often is not learnt
_CLEARLY = 3  # times as frequent in the new language as in the known one
_FOREIGN = 0.02  # of the pieces are unknown to the encoder where it does not know the script
_NEW_TOKENS = 6000
_DEVANAGARI, _BENGALI, _MALAYALAM = 0x0900, 0x0980, 0x0D00  # blocks of 128 code points
_LOOKED_AT = 1000  # texts that tell the script
_LEVELS = 3  # of a number of a row, on either side of zero


def extend(
    encoder: SentenceEncoder,
    pairs: ParallelText,
    options: ExtendOptions,
    report: Report = silent,
    facts: Mapping[str, Any] | None = None,
) -> Pack:
    """Learn the language of one side of some pairs.

    Args:
        encoder: static, with xmine's own vocabulary; what packs it has are not read.
        pairs: the encoder reads the language of one side: English, if that is one of both.
        options: see there.
        report: called in each step.
        facts: more for the pack to tell, such as licences.

    Returns:
        the pack, whose facts tell the `pairs`, and the retrieval of held-out ones: `before` and
        `after`, means of both directions.

    Raises:
        TrainingError: the encoder is of another kind, or there are too few pairs.
    """
    body = encoder.body
    if not isinstance(body, StaticEmbedding) or not isinstance(body.pieces, Vocabulary):
        raise TrainingError(
            f"{encoder.name}: only a static encoder of xmine reads with packs",
            "train it further instead: xmine train --encoder",
        )
    known, new, (pivot, language) = _sides(pairs, encoder, options.language)
    if len(pairs) < _FEWEST:
        raise TrainingError(
            f"{count(len(pairs), 'pair')} of {language_name(language)}: too few to learn from",
            f"give {_FEWEST:,} at least; 3,000 make a useful pack",
        )
    weights = weigh_pairs(pairs, options.source_weight, 1.0)
    rows, held = hold_out(pairs, weights, min(_HELD_OUT, len(pairs) // 10), options.seed)
    taught, learning = picked(known, rows), picked(new, rows)
    facts = {"language": language, "encoder": encoder_digest(encoder), **(facts or {})}
    facts = {"letters": _as_devanagari(learning), **facts}
    table = str.maketrans(facts["letters"])
    learning = [text.translate(table) for text in learning]
    blank = _blank(facts, body, taught, learning, options)
    pieces = PackedPieces(body.pieces, blank, len(body.table))
    teacher = encoder.reading(pivot)
    asked, own = teacher.encode(picked(known, held)), picked(new, held)
    before = float(np.mean(retrieval_accuracy(asked, encoder.encode(own))))
    if options.learning_rate is None:  # the higher one spoils vectors that are good
        options = replace(options, learning_rate=0.003 if before >= 0.9 else 0.006)
    fixed_points = torch.from_numpy(teacher.encode(taught))
    learnt = _learn(
        body, blank, pieces.bags(picked(new, rows)), fixed_points, weights[rows], options, report
    )
    reads = replace(encoder, body=StaticEmbedding(pieces, body.table.before(learnt)))
    after = float(np.mean(retrieval_accuracy(asked, reads.encode(own))))
    figures = {"pairs": len(pairs), "before": round(before, 4), "after": round(after, 4)}
    return replace(blank, facts={**facts, **figures}, table=learnt)


def _as_devanagari(texts: Sequence[str]) -> dict[str, str]:
    """Map letters of another script of India to those of Devanagari, at the same places of Unicode.

    The encoder knows words of Sanskrit from Hindi.
    """
    letters = [each for text in texts[:_LOOKED_AT] for each in text if each.isalpha()]
    blocks = Counter(ord(each) >> 7 for each in letters).most_common(1)
    if not blocks or not _BENGALI >> 7 <= (block := blocks[0][0]) <= _MALAYALAM >> 7:
        return {}
    return {chr((block << 7) + at): chr(_DEVANAGARI + at) for at in range(1 << 7)}


def _sides(
    pairs: ParallelText, encoder: SentenceEncoder, language: str | None
) -> tuple[Sequence[str], Sequence[str], tuple[str, str]]:
    """Tell the texts of the known language from those of the new one, and name both languages."""
    known = set(map(short_code, encoder.facts.languages))
    codes = [
        short_code(code)
        for code in pairs.said or map(guess_language, (pairs.sources, pairs.targets))
    ]
    wanted = short_code(language) if language else ""
    new = 1 if codes[0] == "en" or (codes[0] in known and codes[1] != "en") else 0
    new = codes.index(wanted) if wanted in codes else new
    code, pivot = wanted or codes[new], codes[1 - new]
    if code == UNKNOWN_LANGUAGE or pivot not in known or pivot == code:
        raise TrainingError(
            f"the pairs are in {' and '.join(map(language_name, codes))}",
            "one side has to be in a language that the encoder reads, best English; name the "
            "language of the other side with --language",
        )
    sides = pairs.sources, pairs.targets
    return sides[1 - new], sides[new], (pivot, code)


def _blank(
    facts: Mapping[str, Any],
    body: StaticEmbedding,
    taught: Sequence[str],
    learning: Sequence[str],
    options: ExtendOptions,
) -> Pack:
    """Choose what a pack will hold: its vectors are the encoder's, or zeros."""
    known = body.pieces
    assert isinstance(known, Vocabulary)
    own, in_known = (_counted(known, texts) for texts in (learning, taught))
    size, longer, pieces = options.new_tokens, known, b""
    if size is None:
        is_foreign = facts["letters"] or own[0] > _FOREIGN * own.sum()
        size = _NEW_TOKENS if is_foreign else 0
    if size:  # new pieces cut the texts in another way
        pieces = more_pieces(known, learning, size)
        longer = Vocabulary(known.model + pieces, "")
        own = _counted(longer, learning)
    counts = own[: len(known)]
    is_own = counts / own.sum() > _CLEARLY * in_known / in_known.sum()
    is_own[known.meaningless()] = False
    own_rows = np.flatnonzero(is_own & (counts > 1))
    most = np.argsort(-counts[own_rows], kind="stable")[: options.changed_tokens]
    changed = np.sort(own_rows[most]).astype(np.int32)
    folded = [text for block in known.folded(learning) for text in block]
    grams = frequent_grams(folded, range(2, 5), _RARE, options.ngrams)
    zeros = np.zeros((len(longer) - len(known) + len(grams), body.dim), np.float32)
    table = Table(np.concatenate([body.table.vectors(changed), zeros]), None)
    return Pack(facts, pieces, changed, grams, table)


def _counted(vocabulary: Vocabulary, texts: Sequence[str]) -> NDArray[np.int64]:
    return np.bincount(vocabulary.ids(texts)[0], minlength=len(vocabulary))


def _learn(
    body: StaticEmbedding,
    blank: Pack,
    bags: tuple[Ids, ...],
    fixed_points: Tensor,
    weights: NDArray[np.float64],
    options: ExtendOptions,
    report: Report,
) -> Table:
    """Draw the texts, by their bags of rows, to the fixed points, float32 [texts, dim]."""
    side, own, first = _one_bag(bags), len(blank.table), len(body.table)
    fixed = np.unique(side.ids[side.ids < first])
    places = np.where(
        side.ids < first, own + np.searchsorted(fixed, side.ids), side.ids - first
    ).astype(np.int32)
    side = replace(side, ids=places)
    rows = np.concatenate([blank.table.vectors(), body.table.vectors(fixed)])
    vectors, left = nn.Parameter(torch.from_numpy(rows)), torch.arange(own, len(rows))
    rate = options.learning_rate or 0.0
    optimizer, random = RowAdam([vectors], lr=rate), np.random.default_rng(options.seed)
    shares = weights / weights.sum()
    size = min(options.batch_size, int(np.count_nonzero(shares)))
    for step in range(options.steps):
        falling = min(1, (step + 1) / _WARMUP) * (1 - step / options.steps)
        optimizer.param_groups[0]["lr"] = rate * falling
        batch = random.choice(len(side), size, replace=False, p=shares)
        some = side.take(batch).without_some(_DROPPED, random)
        ids, starts = (torch.from_numpy(each.astype(np.int64)) for each in (some.ids, some.starts))
        sums = piece_sums(vectors, ids, starts, left)  # [batch, dim]
        logits = nn.functional.normalize(sums) @ fixed_points[batch].T / options.temperature
        own_place = torch.arange(size)
        one, other = (nn.functional.cross_entropy(each, own_place) for each in (logits, logits.T))
        loss = one + other
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        report(Progress("training", step + 1, options.steps))
    return Table.rounded(vectors.detach()[:own].numpy(), _LEVELS)


def _one_bag(bags: tuple[Ids, ...]) -> TokenizedSide:
    """Put the rows of each text together."""
    texts = [np.repeat(np.arange(len(starts) - 1), np.diff(starts)) for _, starts in bags]
    every, ids = np.concatenate(texts), np.concatenate([ids for ids, _ in bags])
    count = len(bags[0][1]) - 1
    starts = np.concatenate([[0], np.cumsum(np.bincount(every, minlength=count))])
    return TokenizedSide(ids[np.argsort(every, kind="stable")], starts, np.arange(count))
