"""What aligned pairs are judged to be: probabilities and flags."""

from pathlib import Path

import numpy as np

from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.mining.aligned import score_aligned
from xmine.mining.options import ScoringOptions


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_repeated_pairs_are_one_piece_of_evidence(tmp_path: Path) -> None:
    """A pair that stands there a hundred times makes the others no more likely."""
    vectors = np.random.default_rng(8).standard_normal((2, 200, 32))
    noise = np.linspace(0.1, 2, 100)[:, None]
    vectors[1, :100] = vectors[0, :100] + noise * vectors[1, :100]
    order = np.random.default_rng(9).permutation(200).tolist()
    for rows in (order, [*order, *order[:1] * 100]):
        sides = [[f"{side}{row}" for row in rows] for side in "ab"]
        files = write(tmp_path / "a", sides[0]), write(tmp_path / "b", sides[1])
        scored = score_aligned(*files, vectors=(vectors[0][rows], vectors[1][rows]))
        probs = [pair.prob for pair in scored.rows()]
        if len(rows) == 200:
            once = probs
    assert probs == once + [once[0]] * 100
    assert sum(0.05 < (prob or 0) < 0.95 for prob in once) > 5


def test_flags_are_those_of_the_lines_beside_each_other(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    english, chinese, _ = toy_sentences(60, seed=9)
    chinese[4] = english[4] = "bade fifi golu"
    chinese[9], english[9] = chinese[8], english[8].upper()
    english[12] += " 1234"
    chinese[12] += " 5678"
    files = write(tmp_path / "a", english), write(tmp_path / "b", chinese)
    rows = list(score_aligned(*files, toy_encoder, ScoringOptions(tgt_lang="zh")).rows())
    flags = [(row.flags or "").split(",") for row in rows]
    assert [at for at, names in enumerate(flags) if "copy" in names] == [4]
    assert [at for at, names in enumerate(flags) if "number" in names] == [12]
    assert [at for at, names in enumerate(flags) if "duplicate" in names] == [9]
