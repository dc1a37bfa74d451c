"""Sets of text pairs with people's judgements -> a row of figures for each."""

from collections.abc import Callable, Mapping

from xmine.encoders.pair import Encoders
from xmine.evaluation.readers.scored_pairs import ScoredPairs
from xmine.evaluation.result import Row
from xmine.evaluation.similarity.correlation import Values, correlate, rate
from xmine.progress import Report


def correlate_sets(
    measure: Callable[[Values, Values, str], float],
    encoder: Encoders,
    sets: Mapping[str, ScoredPairs],
    report: Report,
    prompt: str,
) -> tuple[list[Row], int]:
    """Give a row for each set of pairs, its figure named as `measure` is, and count the blanks."""
    rows, blank = [], 0
    for name, pairs in sets.items():
        cosines, without = rate(encoder, pairs, report, prompt)
        figure = measure(cosines, pairs.gold, pairs.name)
        rows.append(Row(name, len(pairs.gold), {measure.__name__: figure}))
        blank += without
    return rows, blank


def pearson(system: Values, gold: Values, what: str) -> float:
    """Correlate the values of two lists; arguments as of `spearman`."""
    from scipy.stats import pearsonr

    return correlate(pearsonr, system, gold, what)
