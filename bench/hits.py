"""Aligned lines -> how often a search finds the translation of a line first, in several orders.

    python bench/hits.py EVAL [--nearest 10] [--model FOLDER] [--json OUT.json]

EVAL is the folder `eval/` that bench/mixtures.py reads. Each line is searched for among the lines
of the other side; a line with the text of the translation counts as found. `off` and `tokens` are
those of `xmine search --rerank`; the other rows are trials with the same nearest lines.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokens import TokenVectors
from xmine.evaluation.reports.record import record, write_record
from xmine.files.reading import read_lines
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.mining import hits
from xmine.mining.reranking import weights_of
from xmine.mining.search import search
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.margin import MarginScores
from xmine.scoring.reranking import Reranker, TokenMatches
from xmine.text.sentences import folded, read_sentences
from xmine.vectors.tokens import tokens_of

SETS = {  # English and Chinese
    "Tatoeba": ("tatoeba/tatoeba.cmn-eng.eng", "tatoeba/tatoeba.cmn-eng.cmn"),
    "newstest": ("newstest2019/ref.en", "newstest2019/ref.zh"),
    "un": ("un-devset/UNv1.0.devset.en", "un-devset/UNv1.0.devset.zh"),
    "flores": ("flores101/dev/eng.dev", "flores101/dev/zho_simpl.dev"),
}
MARGIN_OF = 4  # nearest lines, in the trial with the features of mining

Floats = NDArray[np.floating[Any]]
# Cosines [lines, nearest], match, order, missing -> a score.
TRIALS: dict[str, Callable[[Floats, Floats, Floats, Floats], Floats]] = {
    "match": lambda cosine, match, order, missing: match,
    "cosine + match": lambda cosine, match, order, missing: cosine + match,
    "cosine - missing": lambda cosine, match, order, missing: cosine - missing,
    "cosine - 4 missing": lambda cosine, match, order, missing: cosine - 4 * missing,
    "all four": lambda cosine, match, order, missing: cosine + match + order / 10 - 2 * missing,
}


def trials(encoder: SentenceEncoder, lines: list[str], corpus: list[str]) -> dict[str, list[int]]:
    """Give the row of the corpus that each trial finds first for each line."""
    vectors = encoder.encode_half(lines), encoder.encode_half(corpus)
    tokens = tokens_of(encoder, lines), tokens_of(encoder, corpus)
    near = search_exact(*vectors, hits.NEAREST)
    x, y = np.broadcast_arrays(np.arange(len(lines))[:, None], near.targets)
    matches = match_pairs(*tokens, x.ravel(), y.ravel()).reshape(*x.shape, 3)
    figures = near.target_cosines, *np.moveaxis(matches, -1, 0)
    found = {name: trial(*figures) for name, trial in TRIALS.items()}
    found["features of mining"] = as_in_mining(encoder, near, matches, tokens)
    rows = np.arange(len(lines))
    return {name: near.targets[rows, each.argmax(axis=1)].tolist() for name, each in found.items()}


def as_in_mining(
    encoder: SentenceEncoder,
    near: Neighbours,
    matches: Floats,
    tokens: tuple[TokenVectors, TokenVectors],
) -> Floats:
    """Score hits as candidates of mining; the other hits of a line are the only rivals."""
    nobody = np.full((len(near.sources), 1), -1)
    nothing = np.full(nobody.shape, -np.inf, dtype=np.float32)
    few = near.target_cosines[:, :MARGIN_OF].mean(axis=1, keepdims=True)
    lengths = (each.lengths.astype(np.float32) for each in tokens)
    known = TokenMatches(
        matches.astype(np.float32), nothing[..., None].repeat(3, axis=-1), *lengths
    )
    margins = MarginScores(near.target_cosines / few, nothing, 0)
    alone = Neighbours(near.targets, near.target_cosines, nobody, nothing)
    x, y = np.broadcast_arrays(np.arange(len(near.targets))[:, None], near.targets)
    weights = weights_of(encoder)
    figures = Reranker(alone, known, margins, weights).figures(x, y, known.targets, margins.targets)
    return sum((getattr(weights, name) * each for name, each in figures), np.zeros(x.shape))


def measure(encoder: SentenceEncoder, lines: list[str], path: Path) -> dict[str, float]:
    """Search for lines in a file: the share of lines whose translation is the first hit."""
    corpus, right = read_sentences(path), [folded(line) for line in read_lines(path)]
    texts = list(corpus.texts)
    firsts = {
        name: [texts[row] for row in rows] for name, rows in trials(encoder, lines, texts).items()
    }
    for rerank in ("off", "tokens"):
        found = search(lines, corpus, encoder, 1, rerank=rerank)
        firsts[rerank] = [near[0].text if near else "" for near in found]
    return {name: _share(found, right) for name, found in firsts.items()}


def _share(found: list[str], right: list[str]) -> float:
    same = [folded(text) == key for text, key in zip(found, right, strict=True)]
    return round(float(np.mean(same)), 4)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("eval", type=Path)
    parser.add_argument("--nearest", type=int, default=hits.NEAREST, help="lines that are reranked")
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    hits.NEAREST = arguments.nearest
    encoder = SentenceEncoder.load(arguments.model)
    results: dict[str, dict[str, float]] = {}
    for name, files in SETS.items():
        paths = [arguments.eval / each for each in files]
        for way, (own, other) in (("from", paths), ("to", paths[::-1])):
            for row, share in measure(encoder, list(read_lines(own)), other).items():
                results.setdefault(row, {})[f"{name} {way} en"] = share
    for row, columns in results.items():
        print(f"{row:28}" + " ".join(f"{share:.4f}" for share in columns.values()))
    if arguments.json:
        settings = {"nearest": arguments.nearest, "model": arguments.model}
        write_record(arguments.json, record({"settings": settings, "results": results}))


if __name__ == "__main__":
    main()
