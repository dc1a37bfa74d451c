"""xSIM: how often the best margin score of a sentence goes to a line that is not its translation.

LASER's error rate (facebookresearch/LASER, source/xsim.py; Heffernan, Celebi & Schwenk, 2022,
"Bitext mining using distilled sentence representations for low-resource languages").
"""

from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import XsimOptions
from xmine.evaluation.result import Metric, Result
from xmine.evaluation.retrieval.aligned import aligned_result
from xmine.evaluation.retrieval.reranked import Chosen, line_reranker
from xmine.knn.cosines import Vectors
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent
from xmine.scoring.margin import margin_scores
from xmine.scoring.retrieval import best_both_ways

_METRICS = (
    Metric("forward", "→", "share of lines of the first language with errors", 100, 2, "lower"),
    Metric("backward", "←", "the same from the second language", 100, 2, "lower"),
    Metric("mean", "mean", "the mean of both directions", 100, 2, "lower"),
)


def best_lines(
    source: Vectors, target: Vectors, margin: str, k: int, report: Report = silent
) -> tuple[Chosen, int]:
    """Choose for each row the other side's one with the best score among its k nearest.

    Unit rows [sources, dim] and [targets, dim]; equal scores go to the lower row. Also gives the
    number of neighbourhood means near zero that the ratio needed raised.
    """
    neighbours = search_exact(source, target, 1 if margin == "absolute" else k, report=report)
    scores = margin_scores(neighbours, margin)
    forward, backward = best_both_ways(neighbours, scores)
    return (forward.targets, backward.targets), scores.clamped


def check_neighbours(lines: int, k: int, margin: str, name: str) -> None:
    """Check that each line can have k neighbours."""
    if margin != "absolute" and lines < k:
        said = f"{name}: {lines} lines; a margin over {k} neighbours needs {k}"
        raise FileError(said, "choose fewer with --neighborhood")


def margin_in_words(margin: str, k: int) -> str:
    """Say how the chosen line was found."""
    if margin == "absolute":
        return "nearest by cosine"
    return f"best {margin} margin among the {k} nearest, means over {k} both ways"


def evaluate_xsim(
    encoder: Encoders, data: DataFolder, options: XsimOptions, report: Report = silent
) -> Result:
    """Measure the error rate from each language of aligned files to their pivot, and back."""
    margin, k = options.margin, options.neighborhood
    settings = {"margin": margin, "neighborhood": k, "textual": options.textual}
    protocol = f"{margin_in_words(margin, k)}, error rate"
    result = Result("xsim", protocol, "", _METRICS, (), ("", ""), settings)
    # Reranking weighs the ratio.
    reranker = line_reranker(encoder, options.rerank, k) if margin == "ratio" else None

    def choose(source: Vectors, target: Vectors) -> tuple[Chosen, int]:
        check_neighbours(len(source), k, margin, "aligned files")
        return best_lines(source, target, margin, k, report)

    return aligned_result(result, encoder, data, options, choose, reranker, report)
