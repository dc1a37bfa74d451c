"""Blocks of wrong rows in a corpus -> their lines aligned again, wherever counterparts stand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np

from xmine.aligning.evidence import weighed
from xmine.aligning.lexicon import Words
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.aligning.scores import lengths_of, usual_lengths
from xmine.display import count
from xmine.encoders.encoder import SentenceEncoder, normalised
from xmine.encoders.pair import EncoderPair, with_packs
from xmine.mining.aligned import score_aligned
from xmine.mining.aligned_scores import ScoringReport
from xmine.mining.options import SideOptions
from xmine.pairs.pair import Pair
from xmine.scoring.order import in_one_order
from xmine.text.identification import tell_apart
from xmine.text.segmentation import join

_GOOD = 0.5  # probability of rows and beads that are right
# Lines between counterparts of one part; and right rows beside a block, which show the aligner how
# seldom lines are merged.
_FARTHEST, _BESIDE = 10, 100
_MOST_RUNS = 8  # of exchanged rows that are told
_FEWEST = 10  # rows of which none is right
_IN_PLACE = 0.25  # gain of lines that stand in order but for gaps
# Rows less probable than this are compared with each other alone, if they are no more than this; by
# how much a counterpart stands out, and more where a row of no block has another than its own; what
# it costs to be far away, for the logarithm of rows, and to have another length.
_CERTAIN, _MOST, _TAUGHT, _STANDS_OUT, _STAYS, _FAR = 0.99, 4_000, 8_000, 0.22, 0.25, 0.04
_LENGTHS, _WORST = 0.03, 20.0
_SURE = 0.8  # probability of the language of an exchanged text

_Bead = tuple[list[int], list[int], float]  # the rows of its sources and targets


@dataclass(frozen=True, slots=True)
class Repaired:
    """A corpus whose blocks of wrong rows were aligned again.

    Attributes:
        pairs: the other rows, and beads of lines in the blocks, in the order of the sources; all
            with `source_lines` and `target_lines`.
        moved: the number of beads whose lines stood in other places.
        alone: the number of source and of target lines that are left out.
        exchanged: runs of rows whose sides were exchanged, such as 21-30, which are turned back.
    """

    pairs: list[Pair]
    moved: int
    alone: tuple[int, int]
    exchanged: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Tell what moved, a sentence a line."""
        turned = ", ".join(self.exchanged[:_MOST_RUNS])
        turned += ", ..." * (len(self.exchanged) > _MOST_RUNS)
        return [
            *["no row is a translation"] * (not self.pairs),
            *[f"rows {turned}: sides exchanged"] * bool(turned),
            *[f"{count(self.moved, 'bead')} of lines that stood elsewhere"] * bool(self.moved),
            "left out: {:,} x {:,} lines without counterpart".format(*self.alone),
        ]

    def facts(self) -> dict[str, object]:
        """List every figure, for JSON."""
        told: dict[str, object] = {"pairs": len(self.pairs), "moved": self.moved}
        return told | {"left_out": [*self.alone], "exchanged": [*self.exchanged]}


def repair(found: ScoringReport, encoder: SentenceEncoder | EncoderPair) -> Repaired:
    """Turn rows whose sides are exchanged, and align the lines of wrong rows.

    Aligned are blocks of wrong rows, and wrong rows that hold each other's counterparts. Lines
    whose counterparts stand in the same order are a part; the targets of all parts are put in the
    order of their sources, and aligned. Beads without counterparts are left out. Where lengths tell
    that lines stand in one order, they are also aligned as they stand, and the better way counts.
    Rows that are probably right stay, but where lines of a block are merged with them.

    Args:
        found: of the corpus that was scored; names the blocks.
        encoder: that scored it.
    """
    rows = list(map(_with_ranges, found.result.rows()))
    found, rows, exchanged = _turned(found, rows, encoder)
    blocks = [range(each["first"] - 1, each["last"]) for each in found.blocks]
    known, right = _counterparts(found, rows, encoder, blocks)
    if not (any(right) or found.result.unknown or len(rows) < _FEWEST):
        blocks = [range(len(rows))]
    free = {row for block in blocks for row in block if not right[row]}
    for row, other in known.items():
        if row != other and not (right[row] or right[other] or found.result.unknown):
            free |= {row, other}
    wide = (range(max(0, row - _BESIDE), min(len(rows), row + _BESIDE + 1)) for row in free)
    beside = {row for some in wide for row in some if right[row]}
    known = {row: other for row, other in known.items() if row in free and other in free}
    sources = sorted(free | beside)
    align_rows = partial(_beads, rows, encoder, found.result.options)
    placed = _placed(known | {row: row for row in beside}, free)
    order = [target for row in sources for target in placed.get(row, ())]
    moved_beads = [
        (x, y, prob)
        for x, y, prob in (align_rows(sources, order) if known else ())
        if any(row in beside or known.get(row) in y for row in x)
    ]
    ways = [moved_beads]
    texts = [[getattr(rows[row], side) for row in sorted(free)] for side in ("source", "target")]
    if in_one_order(texts[0], texts[1], _IN_PLACE):
        ways.append(list(align_rows(sources, sources)))
    beads = max(ways, key=lambda way: sum(p * len(free & {*x}) for x, _, p in way))
    kept = {row: pair for row, pair in enumerate(rows) if row not in free}
    alone, moved = (set(free), set(free)), 0
    for x, y, prob in beads:
        merged = beside.intersection(x)
        if beside.issuperset(x + y) or merged != beside.intersection(y):
            continue
        for row in merged:
            del kept[row]
        kept[x[0]] = _bead(rows, x, y, prob)
        alone[0].difference_update(x)
        alone[1].difference_update(y)
        moved += x != y
    pairs = [kept[row] for row in sorted(kept)]
    return Repaired(pairs, moved, (len(alone[0]), len(alone[1])), exchanged)


def _with_ranges(pair: Pair) -> Pair:
    """Name the lines of a row as those of a bead are named."""
    lines = pair.source_line or "", pair.target_line or ""
    ours, theirs = pair.source_lines or str(lines[0]), pair.target_lines or str(lines[1])
    return pair._replace(source_line=None, target_line=None, source_lines=ours, target_lines=theirs)


def _turned(
    found: ScoringReport, rows: list[Pair], encoder: SentenceEncoder | EncoderPair
) -> tuple[ScoringReport, list[Pair], list[str]]:
    """Turn rows with each text in the language of the other side, name them, and score again."""
    first, second = found.result.languages
    told = partial(tell_apart, languages=(first, second), least=_SURE)
    turned = [told(row.source) == second != first == told(row.target) for row in rows]
    if not any(turned):
        return found, rows, []
    sides = [row[1::-1] if turn else row[:2] for row, turn in zip(rows, turned, strict=True)]
    left, right = ([each[at] for each in sides] for at in (0, 1))
    options = replace(found.result.options, src_lang=first, tgt_lang=second)
    again = score_aligned(left, right, encoder, options)
    figures = ("source", "target", "score", "cosine", "prob", "flags", "margin")
    rows = [
        old._replace(**{name: getattr(new, name) for name in figures})
        for old, new in zip(rows, again.rows(), strict=True)
    ]
    edges = np.flatnonzero(np.diff([0, *turned, 0])).reshape(-1, 2).tolist()
    runs = [f"{start + 1}-{stop}" if stop > start + 1 else str(stop) for start, stop in edges]
    return again.report(), rows, runs


def _counterparts(
    found: ScoringReport,
    rows: list[Pair],
    encoder: SentenceEncoder | EncoderPair,
    blocks: list[range],
) -> tuple[dict[int, int], list[bool]]:
    """Find which rows have a source and a target that are counterparts.

    Returns:
        the row of the target of a source, its own where that has the same text; and whether each
        row is probably right.
    """
    scored = found.result
    targets, numbers = scored.chosen.targets.tolist(), scored.numbers.tolist()
    best, row_of = found.counterparts[0], dict(zip(targets, numbers, strict=True))
    every = zip(numbers, best[scored.chosen.sources].tolist(), targets, strict=True)
    known = {row: row if to == own else row_of[to] for row, to, own in every if to in row_of}
    right = [known.get(n) == n if r.prob is None else r.prob >= _GOOD for n, r in enumerate(rows)]
    if any(right) and not scored.unknown:
        for row, other in _closest(rows, encoder, found, known, right, blocks).items():
            known[row] = other
            right[row] &= row == other
            right[other] &= row == other
    return known, right


def _closest(
    rows: list[Pair],
    encoder: SentenceEncoder | EncoderPair,
    found: ScoringReport,
    known: dict[int, int],
    right: list[bool],
    blocks: list[range],
) -> dict[int, int]:
    """Find the rows of the targets that are closest to the sources of doubtful rows, each once.

    Counterparts that a corpus hides, whose sentences are alike, stand out among few rows near by.
    Vectors, lengths and a lexicon, which right rows teach, count as in alignment.
    """
    some = np.flatnonzero([row.prob is not None and row.prob < _CERTAIN for row in rows])
    taught = np.flatnonzero(right)[:: 1 + len(rows) // _TAUGHT]
    if not 1 < len(some) <= _MOST:
        return {}
    every = np.union1d(some, taught)
    texts = [[getattr(rows[row], side) for row in every] for side in ("source", "target")]
    pair, prompts = with_packs(encoder, *found.result.languages), found.result.options.prompts
    sides = zip((pair.source, pair.target), texts, prompts, strict=True)
    x, y = (side.encode_half(given, prompt=prompt) for side, given, prompt in sides)
    at, first = np.searchsorted(every, some), np.searchsorted(every, taught)
    beads = np.stack([first, first + 1] * 2, axis=1)
    words = Words.of(texts[0]), Words.of(texts[1])
    weights, _, lexicon = weighed((x, y), words, beads)
    sums = [side.sums(each, at) for side, each in zip(words, lexicon.vectors(), strict=True)]
    close = -_FAR * np.log1p(np.abs(np.subtract.outer(some, some))).astype(np.float32)
    for by, *both in zip(weights, (x[at], sums[0]), (y[at], sums[1]), strict=True):
        upper, lower = (normalised(each.astype(np.float32)) for each in both)
        close += by * upper @ lower.T
    (ours, theirs), variance = usual_lengths(lengths_of(*texts), beads)
    apart = np.subtract.outer(ours[at], theirs[at]) ** 2
    apart /= variance * np.add.outer(ours[at], theirs[at])
    close -= _LENGTHS * np.minimum(apart, _WORST).astype(np.float32)
    least = np.maximum(close.mean(axis=1), close.mean(axis=0)) + _STANDS_OUT
    place = {row: at for at, row in enumerate(some.tolist())}
    inside = {row for block in blocks for row in block}
    for row, other in [*known.items(), *((row, row) for row in place if row not in inside)]:
        if row in place and other in place:
            close[place[row], place[other]] += _STAYS
    cells = np.argwhere(close >= least[:, None])
    closest, taken = dict[int, int](), set[int]()
    for i, j in cells[np.argsort(-close[tuple(cells.T)], kind="stable")].tolist():
        if int(some[i]) not in closest and j not in taken:
            closest[int(some[i])] = int(some[j])
            taken.add(j)
    return closest


def _placed(known: dict[int, int], free: set[int]) -> dict[int, list[int]]:
    """Give the targets of each source that has a counterpart, and those since the last one."""
    places = {row: at for at, row in enumerate(sorted(free.union(known)))}
    rows = list(places)
    elsewhere = {places[row] for row in known.values()}
    placed, taken, last = dict[int, list[int]](), set[int](), (-1 - _FARTHEST, -1)
    for row in sorted(known):
        x, y = places[row], places[known[row]]
        is_next = x - last[0] <= _FARTHEST and 0 < y - last[1] <= _FARTHEST
        between = set(range(last[1] + 1 if is_next else y, y)) - elsewhere
        placed[row] = [rows[at] for at in (*sorted(between), y) if rows[at] not in taken]
        taken.update(placed[row])
        last = x, y
    return placed


def _beads(
    rows: list[Pair],
    encoder: SentenceEncoder | EncoderPair,
    options: SideOptions,
    *lines: list[int],
) -> Iterator[_Bead]:
    """Align rows of sources with rows of targets: probable beads of lines that stand together."""
    given = {each.name: getattr(options, each.name) for each in fields(SideOptions)}
    texts = [rows[row].source for row in lines[0]], [rows[row].target for row in lines[1]]
    for bead in align(*texts, encoder, AligningOptions(**given, min_prob=_GOOD)).rows():
        ends = ((bead.source_lines or "").split("-"), (bead.target_lines or "").split("-"))
        x, y = (
            some[int(each[0]) - 1 : int(each[-1])] for some, each in zip(lines, ends, strict=True)
        )
        if x[-1] - x[0] == len(x) - 1 and y[-1] - y[0] == len(y) - 1:
            yield x, y, bead.prob or 0.0


def _bead(rows: list[Pair], x: Sequence[int], y: Sequence[int], prob: float | None) -> Pair:
    """Put lines together."""
    some = [rows[row].source_lines or "" for row in x], [rows[row].target_lines or "" for row in y]
    firsts = (each[0].partition("-")[0] for each in some)
    lasts = (each[-1].rpartition("-")[2] for each in some)
    ours, theirs = (a if a == b else f"{a}-{b}" for a, b in zip(firsts, lasts, strict=True))
    texts = join(rows[row].source for row in x), join(rows[row].target for row in y)
    return Pair(*texts, prob=prob, source_lines=ours, target_lines=theirs)
