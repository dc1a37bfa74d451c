"""The steps of mining that compare tokens, in the folder of a run."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokens import TokenVectors
from xmine.engines.task import Engine
from xmine.knn.neighbours import Neighbours
from xmine.mining.matching import CandidateFiles, match_candidates
from xmine.mining.stage_inputs import SIDES
from xmine.mining.stretches import stretches_of_chosen
from xmine.progress import Report, ticks
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

    def read(self, note: str = "") -> tuple[TokenVectors, TokenVectors]:
        """Read the tokens of both sides; a note says what for."""
        run, report = self.run, self.report
        if note:
            run.note(note)
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
        read = partial(self.read, "matching the tokens of candidates")
        tick = ticks(self.report, "matching tokens", total)
        if files := self._files:
            nearest = max(near.targets.shape[1], near.sources.shape[1])
            candidates = CandidateFiles(files, run.path("neighbours"), nearest)
            given = self.engine, candidates
        return match_candidates(read, near, paths, self.mark, tick, run, given)

    def stretches(self, chosen: ChosenPairs) -> Looseness:
        """Find the loosest stretches of the chosen pairs; then no step needs the tokens."""
        run, path, files = self.run, self.run.path("stretches.npy"), self._files
        read = partial(self.read, "looking for stretches without counterparts")
        tick = ticks(self.report, "looking for stretches", len(chosen))
        given = (self.engine, files) if files else None
        loose = stretches_of_chosen(read, chosen, path, self.mark, tick, run, given)
        if run.kept:
            for side in SIDES:
                run.remove(f"{side}.tokens")
        return loose
