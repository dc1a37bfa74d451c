"""Where pairs are ranked by another score, their margins go into the pairs and the candidates."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import xmine
from tests.toys.mined import selected
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.aligned import score_aligned
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.results import write_candidates
from xmine.pairs.io import read_pairs, write_pairs
from xmine.scoring.retrieval import ChosenPairs

ToyFiles = tuple[Path, Path, set[tuple[int, int]]]


def reranked(chosen: ChosenPairs) -> ChosenPairs:
    margins = (chosen.sources * 1000 + chosen.targets).astype(np.float32)
    return replace(chosen, margins=margins)


def test_mined_pairs_and_candidates_have_the_margins_of_their_rows(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, tmp_path: Path
) -> None:
    source, target, _ = toy_files
    options = MiningOptions(drop=["length"], rerank="off")
    plain = xmine.mine(source, target, toy_encoder, options)
    candidates = replace(plain.candidates, chosen=reranked(plain.candidates.chosen))
    mined = selected(candidates, options)
    assert len(mined.pairs) > 0
    rows = [
        {int(line): row for row, line in enumerate(side.lines)}
        for side in (candidates.source, candidates.target)
    ]
    for pair in mined.pairs.rows():
        assert pair.source_line is not None and pair.target_line is not None
        assert pair.margin == rows[0][pair.source_line] * 1000 + rows[1][pair.target_line]
    mined.save(tmp_path / "mined.tsv")
    plain.save(tmp_path / "plain.tsv")
    texts = [(tmp_path / name).read_text().splitlines() for name in ("mined.tsv", "plain.tsv")]
    assert [row.rpartition("\t")[0] for row in texts[0]] == texts[1]
    write_candidates(mined, tmp_path / "candidates.parquet")
    table = pl.read_parquet(tmp_path / "candidates.parquet")
    assert table["margin"].to_list() == (table["source"] * 1000 + table["target"]).to_list()


def test_scored_pairs_have_the_margins_of_now_and_none_of_the_file(
    toy_encoder: SentenceEncoder, toy_files: ToyFiles, tmp_path: Path
) -> None:
    mined = xmine.mine(*toy_files[:2], toy_encoder).pairs
    path = str(tmp_path / "pairs.tsv")
    write_pairs((pair._replace(margin=9.5) for pair in mined.rows()), path)
    assert {pair.margin for pair in read_pairs(path)} == {9.5}
    scored = score_aligned(path, None, toy_encoder, ScoringOptions(rerank="off"))
    assert {pair.margin for pair in scored.rows()} == {None}
    chosen = reranked(scored.chosen)
    assert chosen.margins is not None
    rows = list(replace(scored, chosen=chosen).rows())
    assert [rows[at].margin for at in scored.numbers.tolist()] == chosen.margins.tolist()
