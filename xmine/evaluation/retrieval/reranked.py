"""Line-aligned texts -> the line of the other side that reranking by tokens ranks first.

No paper measures so. The rows stand behind those of the papers and are named `reranked`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.pair import Encoders, as_pair
from xmine.engines.steps import Steps
from xmine.evaluation.result import Row
from xmine.knn.cosines import Rows, Vectors
from xmine.knn.exact import search_exact
from xmine.mining.matching import match_candidates
from xmine.mining.reranking import weights_of
from xmine.progress import Report, silent, ticks
from xmine.run.folder import temporary_run
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.reranking import Reranker
from xmine.scoring.retrieval import best_neighbours
from xmine.vectors.tokens import ReadTokens, compared, texts_read

# Nearest lines that are reranked; more where margins are over more.
NEAREST = 10
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


def line_reranker(encoder: Encoders, rerank: str, k: int = NEIGHBOURS) -> "LineReranker | None":
    """Make what reranks lines; None where `rerank` is `off`, or no weights suit the encoder.

    The default weights suit static encoders; mining learns those of other encoders from the files,
    for which aligned lines are too few. Tokens of two encoders cannot be compared.
    """
    pair = as_pair(encoder)
    one = pair.source
    suits = one.reranking is not None or isinstance(one.body, StaticEmbedding)
    return LineReranker(one, k) if suits and one is pair.target and rerank != "off" else None


class LineReranker:
    """Reranks the nearest lines of aligned texts."""

    def __init__(self, encoder: SentenceEncoder, k: int = NEIGHBOURS) -> None:
        """Compare the tokens of an encoder, with margins whose means are over k neighbours."""
        self._encoder, self._k = encoder, k
        self._target: tuple[Sequence[str], ReadTokens] | None = None

    def best_lines(
        self,
        texts: tuple[Sequence[str], Sequence[str]],
        vectors: tuple[Vectors, Vectors],
        report: Report = silent,
    ) -> tuple[Rows, Rows]:
        """Choose for each line the best of the nearest lines of the other side.

        Args:
            texts: the lines of both sides; targets that are given again are not read again.
            vectors: unit rows [sources, dim] and [targets, dim].
            report: called with the number of lines that are done.

        Returns:
            int64 [sources], a row of the targets for each source, and int64 [targets], the reverse;
            equal scores go to the lower row.
        """
        near = search_exact(*vectors, max(NEAREST, self._k), report=report)
        read = texts_read(self._encoder, texts[0]), self._target_tokens(texts[1])
        tokens = compared(self._encoder.body, *read)
        tick = ticks(report, "matching tokens", len(near.targets) + len(near.sources))
        with temporary_run() as run:
            parts = Steps(run.folder)
            matches = match_candidates(lambda: tokens, near, max(NEAREST, self._k), parts, [], tick)
            margins = margin_scores(near, k=self._k)
            scores = Reranker(near, matches, margins, weights_of(self._encoder)).candidates()
        forward = best_neighbours(near.targets, scores.targets, near.target_cosines)
        backward = best_neighbours(near.sources, scores.sources, near.source_cosines)
        return forward.targets, backward.targets

    def _target_tokens(self, texts: Sequence[str]) -> ReadTokens:
        """Read the tokens of targets: once where several languages have the same targets."""
        if self._target is None or self._target[0] is not texts:
            self._target = texts, texts_read(self._encoder, texts)
        return self._target[1]
