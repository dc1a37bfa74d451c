"""Line-aligned texts -> the line of the other side that reranking by tokens ranks first.

No paper measures so. The rows stand behind those of the papers and are named `reranked`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import Encoders, as_pair
from xmine.encoders.token_files import ReadTokens, compared, texts_read
from xmine.evaluation.result import Row
from xmine.knn.cosines import Rows, Vectors
from xmine.knn.exact import search_exact
from xmine.mining.matching import match_candidates
from xmine.mining.reranking import weights_of
from xmine.progress import Report, ticks
from xmine.run.folder import temporary_run
from xmine.run.steps import Steps
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.reranking import Reranker
from xmine.scoring.retrieval import best_both_ways

# Nearest lines that are reranked; more where margins are over more.
NEAREST = 10
Texts = tuple[Sequence[str], Sequence[str]]
Chosen = tuple[Rows, Rows]  # int64, a row of the target for each source, and the reverse
# Of texts, their vectors, and the codes of their languages.
LineReranker = Callable[[Texts, tuple[Vectors, Vectors], tuple[str, str], Report], Chosen]
_NOTE = (
    "Rows named reranked are ours, not in any paper: candidates reranked by tokens, as xmine mine "
    "does."
)


def ours(rows: Iterable[Row]) -> list[Row]:
    """Name rows so that nobody takes them for those of a paper."""
    return [replace(row, name=f"{row.name}, reranked", is_reranked=True) for row in rows]


def reranked_note(rows: Sequence[Row]) -> list[str]:
    """Say what the rows are; nothing where there are none."""
    return [_NOTE] if rows else []


def line_reranker(encoder: Encoders, rerank: str, k: int = NEIGHBOURS) -> LineReranker | None:
    """Make what reranks lines; None where `rerank` is `off`, or no weights suit the encoder.

    The default weights suit static encoders; mining learns those of other encoders from the files,
    for which aligned lines are too few. Tokens of two encoders cannot be compared.

    Returns:
        the texts of both sides (targets that are given again are not read again), unit rows
        [sources, dim] and [targets, dim], the codes of both languages, report -> int64 [sources],
        the row of the targets that is the best of the nearest for each source, and int64 [targets],
        the reverse; equal scores go to the lower row.
    """
    pair = as_pair(encoder)
    one = pair.source
    suits = one.reranking is not None or isinstance(one.body, StaticEmbedding)
    if not suits or one is not pair.target or rerank == "off":
        return None
    # Targets and their encoder, once for several languages.
    last: list[tuple[Sequence[str], Encoders, ReadTokens]] = []

    def best_lines(
        texts: Texts, vectors: tuple[Vectors, Vectors], codes: tuple[str, str], report: Report
    ) -> Chosen:
        near = search_exact(*vectors, max(NEAREST, k), report=report)
        left, right = one.readers(codes)
        read = texts_read(left, texts[0])
        if not last or last[0][0] is not texts[1] or last[0][1] is not right:
            last[:] = [(texts[1], right, texts_read(right, texts[1]))]
        tokens = compared(left.body, read, last[0][2])
        tick = ticks(report, "matching tokens", len(near.targets) + len(near.sources))
        with temporary_run() as run:
            parts = Steps(run.folder)
            matches = match_candidates(lambda: tokens, near, max(NEAREST, k), parts, [], tick)
            margins = margin_scores(near, k=k)
            scores = Reranker(near, matches, margins, weights_of(pair)).candidates()
            forward, backward = best_both_ways(near, scores)
        return forward.targets, backward.targets

    return best_lines
