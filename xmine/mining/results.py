"""Mined pairs -> the last files of a run: all candidates, and the pairs that are kept."""

from pathlib import Path

import numpy as np

from xmine.files.atomic import replacing
from xmine.files.npy import writing_matrix
from xmine.files.records import json_row
from xmine.mining.mined import Mined
from xmine.pairs.io import write_pairs
from xmine.run.folder import PAIRS_FILE, SCORES_FILES, STAGES, SUMMARY_FILE, Run
from xmine.run.tables import candidates_schema, write_columns
from xmine.scoring.margin import MarginScores


def write_results(run: Run, mined: Mined) -> None:
    """Write candidates, kept pairs and the summary; a temporary run keeps nothing."""
    if not run.kept:
        return
    run.forget(*STAGES["pairs"])
    if mined.candidates.chosen.margins is not None:
        _write_scores(run, mined.candidates.scores)
    candidates, pairs = run.path("candidates.parquet"), run.path(PAIRS_FILE)
    write_candidates(mined, candidates)
    write_pairs(mined.pairs.rows(), str(pairs), mined.languages)
    run.sealed(candidates)
    run.sealed(pairs)
    report, summary = mined.report(), run.path(SUMMARY_FILE)
    with replacing(summary) as partial:
        partial.write_text(json_row(report.facts()), encoding="utf-8")
    run.sealed(summary)
    run.note(str(report))


def _write_scores(run: Run, scores: MarginScores) -> None:
    """Write the scores that pairs were chosen by, for those who ask why others were not.

    A file for each side has float32 [rows, k] of the first k neighbours of each row.
    """
    for name, rows in zip(SCORES_FILES, (scores.targets, scores.sources), strict=True):
        with writing_matrix(run.path(name), rows.shape[1], np.float32, watch=run) as writer:
            writer.write(rows)


def write_candidates(mined: Mined, path: Path) -> None:
    """Write all candidates, best first, those that are not kept included.

    The columns: `source` and `target`, rows from 0 of the tables of both sides; `score`, `cosine`;
    `prob`, null where it cannot be estimated; `flags`; `eligible`, whether a candidate may be kept,
    wherever the cut is; and `margin`, null without reranking.
    """
    chosen, confidence = mined.candidates.chosen, mined.confidence
    eligible = np.zeros(len(chosen), dtype=bool)
    eligible[mined.eligible] = True

    columns = {
        "source": chosen.sources,
        "target": chosen.targets,
        "score": chosen.scores,
        "cosine": chosen.cosines,
        "prob": None if confidence is None else confidence.probs,
        "flags": mined.flags,
        "eligible": eligible,
        "margin": chosen.margins,
    }
    write_columns(path, candidates_schema(), len(chosen), columns)
