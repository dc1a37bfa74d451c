"""Mined pairs -> the last files of a run: all candidates, and the pairs that are kept."""

from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import numpy as np

from xmine.errors import FileError
from xmine.files.atomic import remove, replacing
from xmine.files.npy import write_matrix
from xmine.files.records import json_row
from xmine.mining.mined import Mined
from xmine.mining.selection import outcomes
from xmine.pairs.changes import compare, counted, note_since, read_kept
from xmine.pairs.io import write_pairs
from xmine.run import folder
from xmine.run.tables import OUTCOMES, candidates_schema, write_columns, write_table
from xmine.text.sentences import Sentences


def write_results(run: folder.RunFolder, mined: Mined, sides: tuple[Sentences, Sentences]) -> Mined:
    """Write the tables of both sides, candidates, kept pairs, the summary, and `run.toml`.

    Returns:
        what was mined, with the changes of the pairs that were in the run before.
    """
    if not run.kept:
        return mined
    if run.path(folder.PAIRS_FILE).is_file() and not run.path(folder.BEFORE_FILE).exists():
        with replacing(
            run.path(folder.BEFORE_FILE)
        ) as partial:  # so a run that is killed knows them
            copyfile(run.path(folder.PAIRS_FILE), partial)
    for name in folder.RESULTS:  # not every run has all, and a folder may be in the way
        if run.path(name).is_dir() or name not in (
            folder.PAIRS_FILE,
            folder.CANDIDATES_FILE,
            folder.SUMMARY_FILE,
        ):
            remove(run.path(name))
    for sentences, name in zip(sides, ("source.parquet", "target.parquet"), strict=True):
        write_table(sentences, run.path(name))
    scores = mined.candidates.scores
    if mined.candidates.chosen.margins is not None:
        # For those who ask why other pairs were not chosen, by scores that are no margins.
        for name, rows in zip(folder.SCORES_FILES, (scores.targets, scores.sources), strict=True):
            write_matrix(run.path(name), [rows])
    write_candidates(mined, run.path(folder.CANDIDATES_FILE))
    write_pairs(mined.pairs.rows(), str(run.path(folder.PAIRS_FILE)), mined.languages)
    with replacing(run.path(folder.SUMMARY_FILE)) as partial:
        partial.write_text(json_row(mined.report().facts()), encoding="utf-8")
    mined = replace(mined, changes=_changes(run))
    run.finish()
    remove(run.path(folder.BEFORE_FILE))
    run.note(str(mined.report()))
    return mined


def _changes(run: folder.RunFolder) -> dict[str, int] | None:
    """Count what is new, gone and changed, and keep when pairs came; None in a new run."""
    path = run.path(folder.BEFORE_FILE)
    if not path.is_file():
        return None
    now = read_kept(run.path(folder.PAIRS_FILE))
    try:
        before = read_kept(path)
    except FileError:  # somebody changed the file
        return None
    note_since(run.folder, before, now)
    return counted(compare(before, now))


def write_candidates(mined: Mined, path: Path) -> None:
    """Write all candidates, best first, those that are not kept included.

    The columns: `source` and `target`, rows from 0 of the tables of both sides; `score`, `cosine`;
    `prob`, null where it cannot be estimated; `flags`; `eligible`, whether a candidate may be kept,
    wherever the cut is; `margin`, null without reranking; `kept`; `outcome`, see `OUTCOMES`;
    `reason`, why it was dropped; `rival`, the row of the better pair whose text it has; `evidence`,
    a line `flag: sentence` for each flag that compares pairs. These three may be null.
    """
    chosen, confidence, flags = mined.candidates.chosen, mined.confidence, mined.flags
    eligible, kept = np.zeros(len(chosen), dtype=bool), np.zeros(len(chosen), dtype=bool)
    eligible[mined.eligible], kept[mined.kept_rows] = True, True
    kinds, reasons = outcomes(mined)
    evidence = {row: flags.evidence(row) for row in np.flatnonzero(~flags.none()).tolist()}
    rivals = np.full(len(chosen), -1) if flags.rivals is None else flags.rivals
    columns = {
        "source": chosen.sources,
        "target": chosen.targets,
        "score": chosen.scores,
        "cosine": chosen.cosines,
        "prob": None if confidence is None else confidence.probs,
        "flags": flags,
        "eligible": eligible,
        "margin": chosen.margins,
        "kept": kept,
        "outcome": np.array(OUTCOMES)[kinds],
        "reason": reasons,
        "rival": [None if each < 0 else each for each in rivals.tolist()],
        "evidence": [evidence.get(row) for row in range(len(chosen))],
    }
    write_columns(path, candidates_schema(), len(chosen), columns)
