"""xSIM: how often the best margin score of a sentence goes to a line that is not its translation.

LASER's error rate (facebookresearch/LASER, source/xsim.py; Heffernan, Celebi & Schwenk, 2022,
"Bitext mining using distilled sentence representations for low-resource languages").
"""

from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import XsimOptions
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval.aligned import (
    Measured,
    aligned_result,
    check_known,
    hits_of,
    hits_row,
    unknown_rows,
)
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.evaluation.retrieval.reranked import line_reranker
from xmine.knn.cosines import Rows, Vectors
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent
from xmine.scoring.margin import margin_scores
from xmine.scoring.retrieval import best_neighbours

_METRICS = (
    Metric(
        "forward",
        "→",
        "share of lines of the first language whose translation is missed",
        digits=2,
        better="lower",
    ),
    Metric("backward", "←", "the same from the second language", 100, 2, "lower"),
    Metric("mean", "mean", "the mean of both directions", 100, 2, "lower"),
)


def best_lines(
    source: Vectors, target: Vectors, margin: str, k: int, report: Report = silent
) -> tuple[tuple[Rows, Rows], int]:
    """Choose for each row the other side's one with the best score among its k nearest.

    Unit rows [sources, dim] and [targets, dim]; equal scores go to the lower row.

    Returns:
        int64 [sources], a row of the target for each source, and int64 [targets], the reverse; and
        the number of neighbourhood means near zero that the ratio needed raised.
    """
    neighbours = search_exact(source, target, 1 if margin == "absolute" else k, report=report)
    scores = margin_scores(neighbours, margin)
    forward = best_neighbours(neighbours.targets, scores.targets, neighbours.target_cosines)
    backward = best_neighbours(neighbours.sources, scores.sources, neighbours.source_cosines)
    return (forward.targets, backward.targets), scores.clamped


def check_neighbours(lines: int, k: int, margin: str, name: str) -> None:
    """Check that each line can have k neighbours."""
    if margin != "absolute" and lines < k:
        raise FileError(
            f"{name}: {lines} lines; a margin over {k} neighbours needs {k}",
            "choose fewer with --neighborhood",
        )


def clamped_note(clamped: int) -> list[str]:
    """Say how many neighbourhoods of the ratio were raised."""
    return [f"{clamped:,} neighbourhoods near zero, raised to 1e-6."] if clamped else []


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

    ratio = margin == "ratio"  # which reranking weighs
    reranker = line_reranker(encoder, options.rerank, k) if ratio else None

    def measure(aligned: AlignedSet) -> Measured:
        def read(language: str) -> Vectors:
            reader = aligned.reader(encoder, language)
            return reader.encode(texts[language], report, options.prompt)

        texts = aligned.texts
        check_neighbours(len(next(iter(texts.values()))), k, margin, aligned.name)
        targets: dict[str, Vectors] = {}
        rows, reranked, clamped, unknown = [], list[Row](), 0, dict[str, int]()
        for source, target in aligned.pairs:
            vectors = read(source)
            if target not in targets:
                targets[target] = read(target)
            check_known(aligned.name, (vectors, targets[target]))
            unknown |= {target: unknown_rows(targets[target]), source: unknown_rows(vectors)}
            best, raised = best_lines(vectors, targets[target], margin, k, report)
            sides = texts[source], texts[target]
            name, same = aligned.titled(f"{source}-{target}"), sides if options.textual else None
            rows.append(hits_row(name, ~hits_of(best, same)))
            if reranker:
                chosen = reranker.best_lines(sides, (vectors, targets[target]), report)
                reranked.append(hits_row(name, ~hits_of(chosen, same)))
            clamped += raised
        return Measured(rows, reranked, unknown, clamped_note(clamped))

    said: list[str] = []
    return aligned_result(
        "xsim",
        aligned_sets(data, options, encoder.facts, said.append, by_pair=True),
        measure,
        f"{margin_in_words(margin, k)}, error rate",
        _METRICS,
        {"margin": margin, "neighborhood": k, "textual": options.textual},
        said=said,
    )
