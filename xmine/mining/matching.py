"""Pairs -> how well their tokens match, and the figures of a second model, in files of steps.

Each candidate is looked at once: it may be chosen, and it is the rival of others. Then the loosest
stretches of chosen pairs are looked for, and a second model is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import unchanged
from xmine.encoders.rescorer import Rescorer
from xmine.encoders.tokens import TokenVectors
from xmine.encoders.vectors import Encoded
from xmine.files import scratch
from xmine.knn.cosines import pair_cosines
from xmine.knn.neighbours import Neighbours
from xmine.progress import Report, silent, ticks
from xmine.run.local import LocalEngine
from xmine.run.pair_steps import look_at
from xmine.run.steps import Steps
from xmine.scoring.alignment import Looseness, loosest_stretches
from xmine.scoring.late_interaction import FIGURES, Rows, Singles, match_pairs
from xmine.scoring.reranking import TokenMatches
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.packed import PickedTexts

# The more pairs a task has, the more alike are the lengths of the pairs of a batch.
PAIRS_OF_A_TASK = 32_768
ROWS_AT_ONCE = 65_536
_COSINES_AT_ONCE = 65_536

# Gives the tokens of both sides; a method of plain data where tasks run elsewhere.
OpenTokens = Callable[[], tuple[TokenVectors, TokenVectors]]


def match_candidates(
    open_tokens: OpenTokens,
    neighbours: Neighbours,
    nearest: int,
    steps: Steps,
    made_of: Sequence[str],
    tick: Callable[[int], None] = silent,
    how: Mapping[str, Any] = {},
) -> TokenMatches:
    """Compare all candidates token by token, each once.

    `steps` make the files, float32 [pairs, 7]: the figures of `match_pairs` of each candidate,
    one of the `nearest` first neighbours, and the numbers of tokens of both sides. `made_of` names
    the tokens; `tick` is told the number of rows of both sides that are done; see `look_at`.
    """
    near = neighbours.first(nearest)
    sizes = len(near.targets), len(near.sources)
    cells = (
        np.arange(sizes[0])[:, None] * sizes[1] + near.targets,
        near.sources * sizes[1] + np.arange(sizes[1])[:, None],
    )
    codes = np.unique(np.concatenate([each.ravel() for each in cells]))
    figures = look_at(
        (codes // sizes[1], codes % sizes[1]),
        partial(_match, open_tokens),
        np.float32,
        steps,
        "matches",
        made_of,
        PAIRS_OF_A_TASK,
        lambda done: tick(done * sum(sizes) // len(codes)),
        **how,
    )
    found = []
    for side, own in enumerate(cells):
        matches = scratch.empty((*own.shape, len(FIGURES)), np.float32)
        lengths = np.empty(len(own), np.float32)
        for some in scratch.slices(len(own), ROWS_AT_ONCE):
            every = figures[np.searchsorted(codes, own[some])]
            matches[some], lengths[some] = every[..., :-2], every[:, 0, side - 2]
        found.append((matches, lengths))
    (targets, lengths), (sources, others) = found
    return TokenMatches(targets, sources, lengths, others)


def _match(open_tokens: OpenTokens, x: Rows, y: Rows) -> Singles:
    tokens = open_tokens()
    lengths = (side.lengths_of(rows) for side, rows in zip(tokens, (x, y), strict=True))
    return np.column_stack([match_pairs(*tokens, x, y), *lengths]).astype(np.float32)


def stretches_of_chosen(
    open_tokens: OpenTokens,
    chosen: ChosenPairs,
    steps: Steps,
    made_of: Sequence[str],
    tick: Callable[[int], None] = silent,
    how: Mapping[str, Any] = {},
) -> Looseness:
    """Find the loosest stretches of the chosen pairs, in any order.

    `steps` make the files, float32 [pairs, 4]: looseness and weight of source and target. `made_of`
    names the tokens; `tick` is told the number of pairs that are done; `how`: see `look_at`.
    """
    pairs, look = (chosen.sources, chosen.targets), partial(_stretches, open_tokens)
    given = np.float32, steps, "stretches", made_of, PAIRS_OF_A_TASK, tick
    figures = scratch.stored(look_at(pairs, look, *given, **how).T)
    return Looseness(figures[:2], figures[2:])


def _stretches(open_tokens: OpenTokens, x: Rows, y: Rows) -> Singles:
    loose = loosest_stretches(*open_tokens(), x, y).looseness
    return np.concatenate([loose.values, loose.weights]).T.astype(np.float32)


def read_figures(
    model: Rescorer,
    encoded: tuple[Encoded, Encoded],
    rows: tuple[Rows, Rows],
    steps: Steps,
    encode: Callable[[SentenceEncoder], list[NDArray[np.float16]]],
    report: Report = silent,
) -> Singles:
    """Judge each pair once.

    The figure of an encoder is the cosine of two sentence vectors, which `encode` gives of all
    sentences; that of a cross-encoder is the raw logit.

    Returns:
        float32 [pairs].
    """
    (source, _), (target, _) = encoded
    vectors = cache(lambda: encode(model) if isinstance(model, SentenceEncoder) else [])

    def judge(x: Rows, y: Rows) -> Singles:
        if isinstance(model, SentenceEncoder):
            left, right = vectors()
            figures = pair_cosines(left, right, x, y)
        else:
            figures = model.judge(PickedTexts(source.texts, x)[:], PickedTexts(target.texts, y)[:])
        return unchanged(model.source, figures).astype(np.float32)

    mark = model.fingerprint()
    if mark is None and isinstance(model, SentenceEncoder):
        mark = model.fingerprint_in_memory()
    size = _COSINES_AT_ONCE if isinstance(model, SentenceEncoder) else model.pairs_at_once
    given = steps, "rescoring", [str(mark)], size, ticks(report, "judging pairs", len(rows[0]))
    return look_at(rows, judge, np.float32, *given, engine=LocalEngine())
