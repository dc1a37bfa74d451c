"""Semantic textual similarity: does the cosine of two English sentences rank pairs as people do?

STS12-16, STS-B and SICK-R as in SentEval and SimCSE: Spearman's correlation, without training.
Years have sub-sets, whose aggregation papers choose differently; so all three ways are shown.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import Encoders
from xmine.evaluation.data import DataFolder, MissingData, incomplete
from xmine.evaluation.options import STS_TASKS, StsOptions
from xmine.evaluation.readers import scored_pairs as readers
from xmine.evaluation.readers.scored_pairs import ScoredPairs
from xmine.evaluation.result import Metric, Result, Row, mean_row
from xmine.evaluation.similarity.correlation import UNTRAINED, Values, blank_note, rate, spearman
from xmine.progress import Report, silent

SUBSETS = {
    "sts12": ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"),
    "sts13": ("FNWN", "OnWN", "headlines"),  # SMT is not free, and nobody reports it
    "sts14": ("OnWN", "deft-forum", "deft-news", "headlines", "images", "tweet-news"),
    "sts15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "sts16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
_SURPRISE = {("sts12", "OnWN"), ("sts12", "SMTnews")}  # their files have this in their name
TITLES = {"stsb": "STS-B", "sickr": "SICK-R"} | {name: name.upper() for name in SUBSETS}
DEV = "STS-B dev"

_SENTEVAL = ("STS", "downstream/STS", "data/downstream/STS")
_SICK = ("sts/sick", "sick", "SICK", "downstream/SICK", "data/downstream/SICK")
_STSB = ("stsb", "stsb-multi-mt/data", "data")
_STSB_TABS = tuple(f"{place}/STSBenchmark" for place in _SENTEVAL)
_WHAT = (
    "STS sets: sts/2012/*.test.tsv to 2016, sts/sick/SICK_test_annotated.txt and "
    "stsb/stsb-en-test.csv; or SentEval's STS/STS12-en-test/STS.{input,gs}.*.txt, "
    "STS/STSBenchmark/sts-test.csv and SICK/SICK_test_annotated.txt"
)


def aggregate(subsets: Sequence[tuple[Values, Values, str]]) -> dict[str, float]:
    """Correlate sub-sets (cosines, scores, name) in the three ways that papers have.

    `all`: all pairs as one list (SBERT, SimCSE); `wmean`: each sub-set, weighted by its pairs
    (SentEval); `mean`: each sub-set, all counting the same.
    """
    each = [spearman(*subset) for subset in subsets]
    cosines, scores, names = zip(*subsets, strict=True)
    whole = spearman(np.concatenate(cosines), np.concatenate(scores), ", ".join(names))
    pairs = [len(some) for some in cosines]
    return {"all": whole, "wmean": float(np.average(each, weights=pairs)), "mean": fmean(each)}


def evaluate_sts(
    encoder: Encoders,
    data: DataFolder,
    options: StsOptions,
    report: Report = silent,
    fitted: Callable[[SentenceEncoder, list[str], str], SentenceEncoder] | None = None,
) -> Result:
    """Measure Spearman's correlation of cosines with scores on each STS set there is.

    `fitted` gives the encoder of a set for one encoder, the set's texts and a prompt.
    """
    rows, notes, blank, lacking = [], [], 0, list[str]()
    for task in list(dict.fromkeys(options.task)) or STS_TASKS:
        try:
            sets, without = read_task(task, data)
        except MissingData as error:
            missing = error
            lacking.append(TITLES[task])
            continue
        # A year that is not whole has another title: nobody shall take its figure for that of all.
        found = {TITLES[task] + (f" without {', '.join(without)}" if without else ""): sets}
        if task == "stsb" and (dev := read_stsb_split(data, "dev")):
            found[DEV] = [dev]
            notes.append(f"{DEV} is for choosing among encoders and counts in no average.")
        lacking += [f"{TITLES[task]} {name}" for name in without]
        for title, subsets in found.items():
            reader = encoder.reading("en")
            if fitted:
                texts = [text for each in subsets for text in (*each.first, *each.second)]
                reader = fitted(reader, texts, options.prompt)
            rated = [rate(reader, pairs, report, options.prompt) for pairs in subsets]
            cosines = [each for each, _ in rated]
            blank += sum(count for _, count in rated)
            gold, names = [each.gold for each in subsets], [each.name for each in subsets]
            figures = aggregate(list(zip(cosines, gold, names, strict=True)))
            values = np.stack([np.concatenate(cosines), np.concatenate(gold)], axis=1)
            rows.append(Row(title, len(values), figures, values=values))
    if not rows:
        raise missing
    rows.sort(key=lambda row: row.name == DEV)
    counted = [row for row in rows if row.name in TITLES.values()]
    headline = next((row.name for row in rows if row.name == TITLES["stsb"]), rows[0].name)
    split = ", ".join(row.name for row in rows)
    if len(counted) == len(STS_TASKS):
        headline = f"average of {len(counted)}"
        rows.append(mean_row(headline, counted))
    elif lacking and not options.task:
        notes = [f"No average of {len(STS_TASKS)}: {', '.join(lacking)} missing.", *notes]
    return Result(
        benchmark="sts",
        protocol="Spearman of the cosine against people's scores, no training",
        split=f"test sets: {split}",
        metrics=(
            Metric("all", "all", "of all pairs of the sub-sets as one list"),
            Metric("wmean", "wmean", "mean over the sub-sets, weighted by their pairs"),
            Metric("mean", "mean", "mean over the sub-sets"),
        ),
        rows=rows,
        headline=(headline, "all"),
        settings={**UNTRAINED, "correlation": "spearman", "whitened": fitted is not None},
        unit="pairs",
        notes=[*blank_note(blank), *notes],
        statistic="spearman",
    )


def read_task(task: str, data: DataFolder) -> tuple[list[ScoredPairs], list[str]]:
    """Read a task: the sub-sets there are, in either layout, and the names of those missing."""
    if task == "stsb":
        pairs = read_stsb_split(data, "test")
        if pairs is None:
            raise data.missing(f"{_WHAT}, in {_STSB[0]}")
        return [pairs], []
    if task == "sickr":
        name = "SICK_test_annotated.txt"
        return [readers.read_sick(data.holding(name, _SICK, _WHAT) / name)], []
    year, inside = f"20{task[3:]}", f"{TITLES[task]}-en-test"
    plain = data.find(f"{year}/*.test.tsv", ("sts",))
    folder = plain or data.holding(f"{inside}/STS.*.txt", _SENTEVAL, _WHAT)
    found, lacking = [], []
    for name in SUBSETS[task]:
        long = f"surprise.{name}" if (task, name) in _SURPRISE else name
        names = [f"{inside}/STS.{part}.{long}.txt" for part in ("input", "gs")]
        names = [f"{year}/{name}.test.tsv"] if plain else names
        paths = [folder / each for each in names]
        if not any(path.exists() for path in paths):
            lacking.append(name)
            continue
        incomplete(folder, names, "a sub-set with its scores")
        text, *gold = paths
        read = readers.read_score_apart(text, *gold) if gold else readers.read_score_first(text)
        found.append(read)
    if not found:
        incomplete(folder, [f"{year}/{name}.test.tsv" for name in SUBSETS[task]], TITLES[task])
    return found, lacking


def read_stsb_split(data: DataFolder, split: str) -> ScoredPairs | None:
    """Read `dev` or `test` of STS-B, in either layout; None if the data folder does not have it."""
    if folder := data.find(f"stsb-en-{split}.csv", _STSB):
        return readers.read_stsb(folder / f"stsb-en-{split}.csv")
    folder = data.find(f"sts-{split}.csv", _STSB_TABS)
    return readers.read_score_first(folder / f"sts-{split}.csv", (5, 6, 4)) if folder else None
