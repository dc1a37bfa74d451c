"""Mined pairs -> the last files of a run: all candidates, and the pairs that are kept."""

from pathlib import Path

import numpy as np

from xmine.files.atomic import replacing
from xmine.mining.mined import Mined
from xmine.pairs.io import write_pairs
from xmine.run.folder import PAIRS_FILE, STAGES, Run
from xmine.run.tables import _ROWS_OF_A_GROUP


def write_results(run: Run, mined: Mined) -> None:
    """Write the candidates and the pairs that are kept; a temporary run keeps nothing.

    Raises:
        FileError: the run cannot be written.
    """
    if not run.kept:
        return
    run.forget(*STAGES["pairs"])
    candidates, pairs = run.path("candidates.parquet"), run.path(PAIRS_FILE)
    write_candidates(mined, candidates)
    write_pairs(mined.pairs.rows(), str(pairs), mined.languages)
    run.sealed(candidates)
    run.sealed(pairs)
    run.note(f"{len(mined.pairs):,} pairs")


def write_candidates(mined: Mined, path: Path) -> None:
    """Write all candidates, best first, those that are not kept included.

    The columns: `source` and `target`, rows from 0 of the tables of both sides; `score`, `cosine`;
    `prob`, null where it cannot be estimated; `flags`; and `eligible`, whether a candidate may be
    kept, wherever the cut is.

    Raises:
        FileError: it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    chosen, confidence = mined.candidates.chosen, mined.confidence
    kinds = {"source": pa.int64(), "target": pa.int64(), "score": pa.float32()}
    kinds |= {
        "cosine": pa.float32(),
        "prob": pa.float32(),
        "flags": pa.string(),
        "eligible": pa.bool_(),
    }
    schema = pa.schema(list(kinds.items()))
    eligible = np.zeros(len(chosen), dtype=bool)
    eligible[mined.eligible] = True
    with replacing(path) as partial, pq.ParquetWriter(partial, schema, compression="zstd") as file:
        for start in range(0, len(chosen), _ROWS_OF_A_GROUP):
            some = slice(start, start + _ROWS_OF_A_GROUP)
            flags = mined.flags[some]
            chances = None if confidence is None else confidence.chances[some].astype(np.float32)
            columns = {
                "source": chosen.sources[some],
                "target": chosen.targets[some],
                "score": chosen.scores[some],
                "cosine": chosen.cosines[some],
                "prob": pa.nulls(len(flags), pa.float32()) if chances is None else chances,
                "flags": flags,
                "eligible": eligible[some],
            }
            file.write_table(pa.table(columns, schema))
