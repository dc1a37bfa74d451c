"""The steps of mining that compare tokens, in the folder of a run."""

from dataclasses import dataclass
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokens import TokenVectors
from xmine.engines.task import Engine
from xmine.knn.neighbours import Neighbours
from xmine.mining.matching import CandidateFiles, match_candidates
from xmine.mining.stage_inputs import SIDES, hashed
from xmine.mining.stretches import stretches_of_chosen
from xmine.progress import Progress, Report
from xmine.run.folder import Run
from xmine.scoring.alignment import Looseness
from xmine.scoring.reranking import TokenMatches
from xmine.scoring.retrieval import ChosenPairs
from xmine.vectors.elsewhere import Elsewhere
from xmine.vectors.encoding import Encoded
from xmine.vectors.tokens import TokenFiles, compared, read_tokens


def elsewhere(run: Run, side: str, engine: Engine) -> Elsewhere | None:
    """Tell where tasks find the sentences of a side; a temporary run has no tables."""
    return Elsewhere(engine, run.path(f"{side}.parquet")) if run.kept else None


@dataclass(frozen=True, slots=True, eq=False)
class TokenSteps:
    """Reads the tokens of sentences, and compares these.

    Attributes:
        run: keeps the results.
        report: called meanwhile.
        engine: runs the tasks.
        encoded: the sentences of both sides.
        encoder: of the tokens.
        mark: names vectors and search.
    """

    run: Run
    report: Report
    engine: Engine
    encoded: tuple[Encoded, Encoded]
    encoder: SentenceEncoder
    mark: str

    def read(self) -> tuple[TokenVectors, TokenVectors]:
        """Read the tokens of both sides."""
        run, report = self.run, self.report
        left, right = (
            read_tokens(
                self.encoder, sentences, path, report, run, elsewhere(run, side, self.engine)
            )
            for side, path, (sentences, _) in zip(SIDES, self._paths, self.encoded, strict=True)
        )
        return compared(self.encoder.body, left, right)

    @property
    def _paths(self) -> tuple[Path, Path]:
        return self.run.path("source.tokens.npy"), self.run.path("target.tokens.npy")

    @property
    def _files(self) -> TokenFiles | None:
        """Where tasks find the tokens."""
        return TokenFiles.of(self.encoder, self._paths) if self.run.kept else None

    def match(self, near: Neighbours) -> TokenMatches:
        """Compare the tokens of candidates, see `match_candidates`."""
        run, total, given = self.run, len(near.targets) + len(near.sources), None
        paths = run.path("source.matches.npy"), run.path("target.matches.npy")

        def read() -> tuple[TokenVectors, TokenVectors]:
            run.note("matching the tokens of candidates")
            return self.read()

        def tick(rows: int) -> None:
            self.report(Progress("matching tokens", rows, total))

        if files := self._files:
            nearest = max(near.targets.shape[1], near.sources.shape[1])
            candidates = CandidateFiles(files, run.path("neighbours"), nearest)
            given = self.engine, candidates
        return match_candidates(read, near, paths, self.mark, tick, run, given)

    def stretches(self, chosen: ChosenPairs) -> Looseness:
        """Find the loosest stretches of the chosen pairs; then no step needs the tokens."""
        run = self.run

        def read() -> tuple[TokenVectors, TokenVectors]:
            run.note("looking for stretches without counterparts")
            return self.read()

        def mark(pairs: bytes) -> str:
            return hashed([self.mark.encode(), pairs])

        def tick(rows: int) -> None:
            self.report(Progress("looking for stretches", rows, len(chosen)))

        path, files = run.path("stretches.npy"), self._files
        given = (self.engine, files) if files else None
        loose = stretches_of_chosen(read, chosen, path, mark, tick, run, given)
        if run.kept:
            for side in SIDES:
                run.remove(f"{side}.tokens")
        return loose
