"""BUCC: mine the translations hidden in two files of news, and compare with gold pairs by F1.

Zweigenbaum, Sharoff & Rapp (2018), "Overview of the third BUCC shared task". A figure stands for
its protocol: with the threshold chosen on the pairs it is measured on, F1 is an upper bound.
Protocols: LASER's tasks/bucc (laser); the example bucc2018.py of sentence-transformers (st); Hu et
al., 2020 (xtreme); Wang et al., 2022, whose code scores XTREME's `dev` (msimcse); dual momentum
contrast, Wang et al., 2021, eq. 4 and 3.2 (moco).
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import EncoderPair, Encoders, as_pair, with_packs
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.languages import left_out_note
from xmine.evaluation.options import BuccOptions
from xmine.evaluation.readers.bucc import SPLITS, BuccFolder, BuccSplit, find_bucc
from xmine.evaluation.result import Metric, Result, Row, mean_row
from xmine.evaluation.retrieval.aligned import clamped_note
from xmine.evaluation.retrieval.reranked import ours, reranked_note
from xmine.evaluation.retrieval.xsim import check_neighbours
from xmine.mining.candidates import Candidates, best_without_gold
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import find_candidates
from xmine.options import flag
from xmine.progress import Report, silent
from xmine.scoring.gold import Agreement, agreement, best_threshold
from xmine.text.sentences import sentence_table

# Thresholds for the ratio margin that others ship: WikiMatrix and stopes; CRISS; the advice of
# sentence-transformers.
FIXED = (1.04, 1.06, 1.2)
_METRICS = (
    Metric("precision", "precision", "share of the kept pairs that are gold pairs"),
    Metric("recall", "recall", "share of the gold pairs that are kept"),
    Metric("f1", "F1", "harmonic mean of precision and recall"),
    Metric("threshold", "threshold", "lowest score kept", scale=1, digits=4, better=""),
)


@dataclass(frozen=True, slots=True)
class Protocol:
    """What a protocol fixes."""

    margin: str = "ratio"  # as in MiningOptions
    neighborhood: int = 4
    retrieval: str = "max"
    # `folded` to the first line that repeats, as mining does; `kept`; or `dropped`, as LASER has
    # it: the same texts are searched once, and no pair with one of them counts
    duplicates: str = "folded"
    # `training` or `sample`: on the gold pairs of that split; `hash`: on one half of the ids;
    # `oracle`: on the pairs that are measured; nothing: what the files allow
    threshold_from: str = ""
    # the one that is measured where the threshold is from `hash` or `oracle`; nothing: test, or
    # else training, or else the sample
    split: str = ""
    lowest: float | None = None  # pairs with a lower ratio are no candidates


PROTOCOLS: Mapping[str, Protocol] = {
    "heldout": Protocol(),
    "laser": Protocol(duplicates="dropped", threshold_from="training", split="training"),
    "st": Protocol(duplicates="kept", threshold_from="oracle", split="training", lowest=1.0),
    "xtreme": Protocol(duplicates="dropped", threshold_from="sample", split="training"),
    "msimcse": Protocol(duplicates="kept", threshold_from="oracle", split="sample"),
    "moco": Protocol(margin="distance", neighborhood=3, duplicates="kept"),
}
_GIVEN = ("margin", "neighborhood", "retrieval", "threshold_from")
_DUPLICATES = {
    "folded": "repeated lines folded to the first",
    "kept": "repeated texts kept",
    "dropped": "repeated texts searched once and never counted",
}


def settle_protocol(options: BuccOptions, folder: BuccFolder) -> Protocol:
    """Apply the options to a protocol; decide by the files what is open: threshold and split."""
    given = {name: value for name in _GIVEN if (value := getattr(options, name))}
    chosen = replace(PROTOCOLS[options.protocol], **given)
    if chosen.margin != "ratio":
        chosen = replace(chosen, lowest=None)
    wish = f"--protocol {options.protocol}"
    source = chosen.threshold_from
    if not source:
        source = "training" if folder.has("training") and folder.has("test") else "hash"
    if source == "training":
        folder.need("training", wish)
        # LASER's own figures on training are in hindsight; the test pairs went to the organisers
        if options.protocol == "laser" and not options.threshold_from and not folder.has("test"):
            return replace(chosen, threshold_from="oracle", split="training")
        folder.need("test", "--threshold-from training")
        return replace(chosen, threshold_from=source, split="test")
    there = [split for split in reversed(SPLITS) if folder.has(split)]
    split = chosen.split or (there[0] if there else "sample")
    if source == "sample":
        folder.need("sample", wish)
    folder.need(split, wish)
    return replace(chosen, threshold_from=source, split=split)


def protocol_in_words(options: BuccOptions, protocol: Protocol) -> str:
    """Say in a sentence what a protocol was, with what the options changed of it."""
    given = ((name, getattr(options, name)) for name in _GIVEN)
    changed = [f"{flag(name)} {value}" for name, value in given if value]
    name = options.protocol + (f", but {' '.join(changed)}" if changed else "")
    source = {
        "oracle": f"F1 on {protocol.split} at the threshold that is best for its own gold pairs",
        "hash": f"F1 on one half of the ids of {protocol.split}, threshold from the other half",
    }.get(
        protocol.threshold_from,
        f"F1 on {protocol.split}, threshold from the gold pairs of {protocol.threshold_from}",
    )
    lowest = "" if protocol.lowest is None else f", no score below {protocol.lowest:g}"
    means = "" if protocol.margin == "absolute" else f", k = {protocol.neighborhood}"
    return (
        f"{name}: {source}; {protocol.margin} margin{means}, {protocol.retrieval} retrieval, "
        f"{_DUPLICATES[protocol.duplicates]}{lowest}"
    )


@dataclass(frozen=True, slots=True)
class NamedPairs:
    """Candidate pairs of a split before the cut, and the gold pairs to find."""

    scores: NDArray[np.float64]  # float64 [pairs], falling
    pairs: Sequence[tuple[str, str]]  # ids of source and target
    gold: frozenset[tuple[str, str]]  # the true pairs
    lines: Sequence[str]  # ids of all lines of the source
    # the cut that needs no gold pairs, a probability, and what that keeps
    auto: tuple[float, Agreement]
    clamped: int  # neighbourhood means near zero

    def best(self) -> float:
        """Find the cut that is best for these gold pairs."""
        return best_threshold(self.scores.tolist(), self.pairs, self.gold)

    def at(self, threshold: float) -> Agreement:
        """Compare the pairs that score the threshold or more with the gold pairs."""
        return agreement(self.pairs[: int((self.scores >= threshold).sum())], self.gold)

    def counts_at(self, threshold: float) -> NDArray[np.int64]:
        """Count by source line what `at` counts: int64 [lines, 3], pairs kept, right, and gold."""
        kept = self.pairs[: int((self.scores >= threshold).sum())]
        right = [pair for pair in kept if pair in self.gold]
        counted = [Counter(source for source, _ in each) for each in (kept, right, self.gold)]
        return np.array([[count[line] for count in counted] for line in self.lines], dtype=np.int64)

    def half(self, which: int) -> "NamedPairs":
        """Keep the pairs, gold ones too, whose source id falls into half 0 or 1."""
        kept = [half_of(source) == which for source, _ in self.pairs]
        return replace(
            self,
            scores=self.scores[kept],
            pairs=[pair for pair, keep in zip(self.pairs, kept, strict=True) if keep],
            gold=frozenset(pair for pair in self.gold if half_of(pair[0]) == which),
            lines=[line for line in self.lines if half_of(line) == which],
        )


# Threshold -> where it is, and the candidates that it is measured on: those that gold pairs choose,
# that of the protocol first, `oracle` last.
Cuts = Mapping[str, tuple[float, NamedPairs]]


def half_of(identity: str) -> int:
    """Say which half an id belongs to, 0 or 1: the lowest bit of its SHA-256, the same for ever."""
    return hashlib.sha256(identity.encode()).digest()[-1] & 1


def evaluate_bucc(
    encoder: Encoders, data: DataFolder, options: BuccOptions, report: Report = silent
) -> Result:
    """Mine each language pair and give F1 at several thresholds, that of the protocol first."""
    folder = find_bucc(data, options.pair, encoder.facts)
    protocol = settle_protocol(options, folder)
    kinds: list[dict[str, dict[str, Row]]] = [{}, {}]  # by the margin, and reranked
    notes, gold = [], []
    for pair in folder.pairs:
        split, mined = mine_pair(encoder, folder, pair, protocol, options, report)
        for found, cuts in zip(kinds, mined, strict=False):
            is_ratio = protocol.margin == "ratio" and found is kinds[0]
            found[pair] = _at_thresholds(pair, cuts, FIXED if is_ratio else ())
        sizes = " and ".join(f"{len(side):,}" for side in split.sides)
        said = [f"{sizes} sentences, {len(split.gold):,} gold pairs."]
        said += clamped_note(mined[0]["oracle"][1].clamped)
        notes += [f"{split.name}: {note}" for note in said]
        gold.append(f"{pair} {len(split.gold)}")
    if protocol.threshold_from == "hash":
        notes.append(
            "held-out is over the half of the ids that the threshold was not chosen on; the other "
            "rows are over all of them."
        )
    rows, reranked_rows = map(_with_means, kinds)
    return Result(
        benchmark="bucc",
        protocol=protocol_in_words(options, protocol),
        split=f"BUCC 2018 {protocol.split}, {', '.join(folder.pairs)}",
        metrics=_METRICS,
        rows=[*rows, *ours(reranked_rows)],
        headline=(next((row for row in rows if row.is_mean), rows[0]).name, "f1"),
        settings={"protocol": options.protocol, **asdict(protocol), "gold pairs": ", ".join(gold)},
        unit="kept",
        notes=[
            *notes,
            *left_out_note(folder.pairs, folder.there, options.pair, "pair"),
            *reranked_note(reranked_rows),
        ],
        statistic="f1",
    )


def _at_thresholds(pair: str, cuts: Cuts, fixed: Sequence[float]) -> dict[str, Row]:
    """Cut at every threshold, that of the protocol first."""

    def row(kind: str, threshold: float, agreed: Agreement) -> Row:
        figures = {"precision": agreed.precision, "recall": agreed.recall, "f1": agreed.f1}
        return Row(f"{pair} {kind}", agreed.mined, {**figures, "threshold": threshold})

    kinds = {
        kind: replace(row(kind, cut, on.at(cut)), values=on.counts_at(cut))
        for kind, (cut, on) in cuts.items()
    }
    whole = cuts["oracle"][1]
    kinds["auto"] = row("auto", *whole.auto)
    return kinds | {f"at {cut:g}": row(f"at {cut:g}", cut, whole.at(cut)) for cut in fixed}


def _with_means(cuts: Mapping[str, Mapping[str, Row]]) -> list[Row]:
    """List the rows of each language pair, and behind them the means over the pairs."""
    rows = [row for kinds in cuts.values() for row in kinds.values()]
    for kind in next(iter(cuts.values())) if len(cuts) > 1 else ():
        every = [kinds[kind] for kinds in cuts.values() if kind in kinds]
        mean = mean_row(f"mean of {len(every)} {kind}", every)
        # a mean of thresholds would mean nothing
        rows.append(replace(mean, figures={**mean.figures, "threshold": np.nan}))
    return rows


def unified(side: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], set[str]]:
    """Keep the first line of each text; also give the ids of those whose text comes again."""
    counts = Counter(text.strip() for _, text in side)
    first = {text.strip(): (name, text) for name, text in reversed(side)}
    rows = [row for row in side if first[row[1].strip()] == row]
    return rows, {name for name, text in rows if counts[text.strip()] > 1}


def mine_pair(
    encoder: Encoders,
    folder: BuccFolder,
    pair: str,
    protocol: Protocol,
    options: BuccOptions,
    report: Report = silent,
) -> tuple[BuccSplit, list[Cuts]]:
    """Mine a language pair and choose the thresholds that gold pairs choose.

    Returns:
        what was mined; and the thresholds, by the margin and, where candidates are reranked, after
        reranking by tokens.
    """
    split = folder.read(pair, protocol.split)
    one, other = pair.split("-")
    sides = EncoderPair(*map(as_pair(encoder).reading, (one, other)))
    sides = with_packs(sides, one, other)
    mined = mine_split(sides, split, protocol, options, report)
    if protocol.threshold_from == "oracle":
        return split, [{"oracle": (found.best(), found)} for found in mined]
    if protocol.threshold_from == "hash":
        halves = [(found.half(0), found.half(1)) for found in mined]
        if not all(half.gold for half in halves[0]):
            raise FileError(
                f"{split.name}.gold: too few pairs to hold out a half of them: {len(split.gold)}",
                "choose --threshold-from oracle",
            )
        first = [{"held-out": (known.best(), rest)} for known, rest in halves]
    else:
        learned = folder.read(pair, protocol.threshold_from)
        others = mine_split(sides, learned, protocol, options, report)
        # One of the splits may have too few translations to learn how to rerank.
        both = zip(mined, others, strict=False)
        first = [{protocol.split: (other.best(), found)} for found, other in both]
    return split, [
        {**cuts, "oracle": (found.best(), found)} for cuts, found in zip(first, mined, strict=False)
    ]


def mine_split(
    encoder: EncoderPair, split: BuccSplit, protocol: Protocol, options: BuccOptions, report: Report
) -> list[NamedPairs]:
    """Score all pairs of a split, name them by id, and cut them as `auto` does.

    The second is after reranking, if candidates are reranked.
    """
    tables, ids, repeated = [], [], []
    for number, side in enumerate(split.sides):
        rows, dropped = unified(side) if protocol.duplicates == "dropped" else (side, set())
        tables.append(
            sentence_table(
                f"{split.name}, {('source', 'target')[number]}",
                [text for _, text in rows],
                dedup=protocol.duplicates == "folded",
            )
        )
        ids.append([name for name, _ in rows])
        repeated.append(dropped)
    if protocol.duplicates == "folded":
        firsts = [  # gold pairs are of the lines that stand for repeated ones
            {name: each[table.standing_for(at) - 1] for at, name in enumerate(each, start=1)}
            for table, each in zip(tables, ids, strict=True)
        ]
        gold = frozenset((firsts[0][x], firsts[1][y]) for x, y in split.gold)
        split = replace(split, gold=gold)
    searched = min(len(table) for table in tables)
    check_neighbours(searched, protocol.neighborhood, protocol.margin, split.name)
    mining = MiningOptions(
        margin=protocol.margin,
        neighborhood=protocol.neighborhood,
        retrieval=protocol.retrieval,
        src_prompt=options.prompt,
        tgt_prompt=options.prompt,
        rerank=options.rerank,
    )
    kinds = find_candidates((tables[0], tables[1]), encoder, mining, report)
    return [_named(split, scored, ids, repeated, protocol) for scored in kinds if scored]


def _named(
    split: BuccSplit,
    scored: Candidates,
    ids: Sequence[Sequence[str]],
    repeated: Sequence[set[str]],
    protocol: Protocol,
) -> NamedPairs:
    """Name pairs by the ids of their lines, leave repeated ones out, and cut as `auto` does."""
    chosen = scored.chosen
    margins = chosen.scores if chosen.margins is None else chosen.margins
    figures = (each.tolist() for each in (chosen.scores, margins, *scored.lines()))
    scores, pairs = [], []
    for score, margin, source, target in zip(*figures, strict=True):
        pair = (ids[0][source - 1], ids[1][target - 1])
        counts = pair[0] not in repeated[0] and pair[1] not in repeated[1]
        if counts and (protocol.lowest is None or margin >= protocol.lowest):
            scores.append(score)
            pairs.append(pair)
    cut, kept = best_without_gold(scored)
    at = scored.source.lines[kept.sources], scored.target.lines[kept.targets]
    named = {(ids[0][x - 1], ids[1][y - 1]) for x, y in zip(*at, strict=True)}
    auto = cut, agreement(named & set(pairs), split.gold)
    lines = [name for name, _ in split.sides[0]]
    clamped = scored.scores.clamped
    return NamedPairs(np.array(scores, dtype=np.float64), pairs, split.gold, lines, auto, clamped)
