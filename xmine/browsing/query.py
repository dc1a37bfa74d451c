"""What to see of some pairs, and in which order: filters by text, flag, score; sorting."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.browsing.judgements import CODES
from xmine.browsing.opened import Bools, Opened, Rows
from xmine.errors import OptionError
from xmine.flags.names import FLAGS
from xmine.pairs.judgements import VERDICTS
from xmine.text.packed import PackedTexts

ORDERS = ("rank", "score", "prob", "cosine", "source", "target", "length")
SIDES = ("either", "source", "target", "both")
KEPT = ("kept", "below", "all")
JUDGED = ("any", *VERDICTS, "judged", "unjudged")

Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which pairs, in which order.

    Attributes:
        text: what a side must hold; empty for any.
        regex: whether `text` is a regular expression (RE2) and not a plain text; case counts in
            neither.
        side: where it must stand: `either`, `source`, `target` or `both`.
        flags: names of flags, one of which a pair must have; `none` for pairs without any.
        score_min, score_max: of the scores, both included.
        kept: `kept` by the cut, `below` it or dropped, or `all`.
        verdict: `accept`, `reject` or `unsure`; `judged` for any of them, `unjudged` for none;
            `any` for all pairs.
        order: `rank` is the order of the run or the file; `source` and `target` are by line,
            `length` by the bytes of both sides together.
        descending: turn the order round.
    """

    text: str = ""
    regex: bool = False
    side: str = "either"
    flags: tuple[str, ...] = ()
    score_min: float | None = None
    score_max: float | None = None
    kept: str = "all"
    verdict: str = "any"
    order: str = "rank"
    descending: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no side, flag, order."""
        for name, value, known in (
            ("--side", self.side, SIDES),
            ("--kept", self.kept, KEPT),
            ("--verdict", self.verdict, JUDGED),
            ("--sort", self.order, ORDERS),
            *(("--flag", each, (*FLAGS, "none")) for each in self.flags),
        ):
            if value not in known:
                raise OptionError(f"{name} is {value!r}", f"choose from {', '.join(known)}")


def select(
    opened: Opened, query: Query, cut: float | None = None, codes: Codes | None = None
) -> Rows:
    """Find the pairs that a query asks for, int64 [found], in its order.

    Args:
        opened: the pairs.
        query: what to see.
        cut: what `kept` is by; the one of the run if left out.
        codes: verdict on each pair, see `xmine.browsing.judgements.Judgements.codes`; nobody has
            judged any if left out.

    Raises:
        OptionError: the regular expression is none, or scores are asked for where there are none.
    """
    cut = opened.cut if cut is None else cut
    wanted = np.ones(len(opened), dtype=bool)
    if query.kept != "all":
        kept = opened.kept(cut)
        wanted &= kept if query.kept == "kept" else ~kept
    if query.verdict != "any":
        wanted &= _judged(np.zeros(len(opened), np.int8) if codes is None else codes, query)
    if query.flags:
        wanted &= _flagged(opened, query.flags)
    for limit, above in ((query.score_min, True), (query.score_max, False)):
        if limit is not None:
            scores = _scores(opened).astype(np.float64)
            wanted &= scores >= limit if above else scores <= limit
    if query.text:
        wanted &= found_in(opened, query)
    rows = np.flatnonzero(wanted)
    return _ordered(opened, rows, query)


def found_in(opened: Opened, query: Query) -> Bools:
    """Mark the pairs whose texts match, bool [pairs]."""
    source, target = (
        None if query.side == other else matches(side.texts, query.text, regex=query.regex)[rows]
        for side, rows, other in (
            (opened.source, opened.sources, "target"),
            (opened.target, opened.targets, "source"),
        )
    )
    if source is None or target is None:
        one = target if source is None else source
        assert one is not None
        return one
    return source & target if query.side == "both" else source | target


def matches(texts: PackedTexts, text: str, *, regex: bool = False) -> NDArray[np.bool_]:
    """Mark the texts that hold another one, whatever its case, bool [texts].

    Raises:
        OptionError: `text` is no regular expression of RE2.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(texts):
        return np.zeros(0, dtype=bool)
    column = pa.LargeStringArray.from_buffers(
        len(texts),
        pa.py_buffer(np.ascontiguousarray(texts.offsets)),
        pa.py_buffer(np.ascontiguousarray(texts.data)),
    )
    find = pc.match_substring_regex if regex else pc.match_substring
    try:
        found = find(column, text.encode("utf-8", "surrogatepass"), ignore_case=True)
    except pa.ArrowInvalid as error:
        raise OptionError(f"{text!r} is no regular expression: {error}") from None
    marked: NDArray[np.bool_] = found.to_numpy(zero_copy_only=False)
    return marked


def _judged(codes: Codes, query: Query) -> Bools:
    wanted: Bools
    if query.verdict in ("judged", "unjudged"):
        wanted = (codes > 0) == (query.verdict == "judged")
    else:
        wanted = codes == CODES[query.verdict]
    return wanted


def _flagged(opened: Opened, names: tuple[str, ...]) -> Bools:
    marked = np.zeros(len(opened), dtype=bool)
    if opened.flags is None:
        return marked | ("none" in names)
    raised = {name: opened.flags.raised(name) for name in FLAGS}
    for name in names:
        marked |= ~np.logical_or.reduce(list(raised.values())) if name == "none" else raised[name]
    return marked


def _scores(opened: Opened) -> NDArray[np.float32]:
    if opened.scores is None:
        raise OptionError(f"{opened.path} has no scores", "xmine score writes them")
    return opened.scores


def _ordered(opened: Opened, rows: Rows, query: Query) -> Rows:
    if query.order == "rank":
        return rows[::-1] if query.descending else rows
    keys = _keys(opened, query.order)[rows]
    # What has no key stands last both ways; what is equal stays as it was.
    return rows[np.argsort(-keys if query.descending else keys, kind="stable")]


def _keys(opened: Opened, order: str) -> NDArray[np.float64]:
    if order in ("source", "target"):
        side = opened.source if order == "source" else opened.target
        return side.lines[opened.sources if order == "source" else opened.targets].astype(float)
    if order == "length":
        lengths = np.zeros(len(opened))
        sides = ((opened.source, opened.sources), (opened.target, opened.targets))
        for side, rows in sides:
            lengths += np.diff(side.texts.offsets)[rows]
        return lengths
    column = {"score": opened.scores, "prob": opened.probs, "cosine": opened.cosines}[order]
    if column is None:
        raise OptionError(f"{opened.path} has no {order}", f"sort by {', '.join(ORDERS)}")
    return column.astype(np.float64)
