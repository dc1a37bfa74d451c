"""A cut -> the files of a run as mining with that cut writes them."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmine.browsing.cuts import Cuts, check_cut, flag_of
from xmine.browsing.opened import Opened, Rows
from xmine.browsing.opening import open_pairs
from xmine.errors import FileError, OptionError
from xmine.files.atomic import replacing
from xmine.files.records import json_row
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.mining.selection import COPY, WRONG
from xmine.pairs.io import write_pairs
from xmine.run.folder import CANDIDATES_FILE, PAIRS_FILE, RUN_FILE, SUMMARY_FILE, alone_in
from xmine.run.tables import candidates_schema, write_columns
from xmine.scoring.order import rising_share
from xmine.scoring.threshold import choose_threshold, precision_of

# The options of a run that a given cut replaces.
_REPLACED = ("threshold", "min_prob", "precision", "top")
# The figures of the summary that need the files of the run's inputs.
_UNKNOWN = ("gold", "seed_pairs", "histogram")


def write_cut(folder: Path, cut: float) -> int:
    """Keep the pairs of a run from a rank on, see `Opened.ranks`; return how many they are.

    `xmine mine` with the same files and options, and with the option that makes this cut, then
    finds the run complete.
    Every file is whole before the first one gets its name; a kill between two of them leaves a run
    that can be opened, and cut again.
    """
    if not np.isfinite(cut):
        raise OptionError(f"a cut at {cut}", "give a number")
    if not (folder / RUN_FILE).is_file():
        raise FileError(f"{folder}: not a run, so it has no cut", "mine with -o run/")
    with alone_in(folder) as run:
        opened = open_pairs(folder)
        check_cut(opened, cut)
        if not opened.is_run:
            raise FileError(
                f"{folder}: {opened.kind} has no cut to write",
                f"align again with {flag_of(opened, cut)}",
            )
        if opened.run.get("options", {}).get("merge"):
            raise OptionError(
                f"{folder}: its pairs are merged with lines beside, which a cut would undo",
                f"mine again with {flag_of(opened, cut)}",
            )
        cuts = Cuts(opened, np.flatnonzero(opened.allowed))
        rows = cuts.rows[: cuts.kept_by(cut)]
        pairs = str(run.path(PAIRS_FILE))
        run.forget(CANDIDATES_FILE, PAIRS_FILE, SUMMARY_FILE)
        asked = {**dict.fromkeys(_REPLACED), **_asked(opened, cut)}
        run.tables["options"] = asdict(MiningOptions(**{**run.tables["options"], **asked}))
        with replacing(run.path(SUMMARY_FILE)) as summary:
            said = _summary(opened, cuts, rows, cut)
            said["options"] = {**said.get("options", {}), **asked}
            summary.write_text(json_row(said), encoding="utf-8")
            _keep(run.path(CANDIDATES_FILE), opened, rows)
            write_pairs(opened.pairs(rows), pairs, opened.languages)
        run.note(f"cut at {cut!r} by hand: {len(rows):,} pairs")
    return len(rows)


def _keep(path: Path, opened: Opened, rows: Rows) -> None:
    """Say anew which candidates are kept; those that options drop stay as they were."""
    import polars as pl

    is_allowed = pl.col("allowed")
    kept = pl.Series(np.isin(np.arange(len(opened)), rows))
    outcome = pl.when(kept).then(pl.lit("kept")).otherwise(pl.lit("below"))
    table = opened.frame.with_columns(
        eligible="allowed",
        kept=kept,
        outcome=pl.when(is_allowed).then(outcome).otherwise("outcome"),
        reason=pl.when(is_allowed).then(None).otherwise("reason"),
    )
    schema = candidates_schema()
    write_columns(path, schema, len(table), table.select(*schema).to_dict())


def read_again(opened: Opened) -> Opened:
    """Read what writing a cut has changed; pairs and texts stay those that are in memory."""
    now = open_pairs(opened.path)
    same = zip((now.sources, now.targets), (opened.sources, opened.targets), strict=True)
    if not all(np.array_equal(*each) for each in same):
        raise FileError(f"{opened.path}: other pairs were mined meanwhile", "open it again")
    return replace(opened, frame=now.frame, cut=now.cut, run=now.run, summary=now.summary)


def _asked(opened: Opened, cut: float) -> dict[str, Any]:
    """Give the options that make a cut; the lowest score that was asked for goes on to hold."""
    if not opened.by_probability:
        return {"threshold": cut}
    wanted = opened.run.get("options", {}).get("threshold", "auto")
    return {"threshold": "auto" if isinstance(wanted, str) else wanted, "min_prob": cut}


def _summary(opened: Opened, cuts: Cuts, rows: Any, cut: float) -> dict[str, Any]:  # noqa: ANN401
    """Say anew what depends on the cut, in the words of `xmine mine`."""
    assert opened.scores is not None and opened.flags is not None  # every run has them
    scores = opened.scores[cuts.rows]
    threshold = choose_threshold(scores, cuts.confidence, cut)
    probs = None if cuts.probs is None else cuts.probs[: len(rows)]
    precision, interval = precision_of(probs, opened.doubt)
    flags = opened.flags.take(rows)
    counts = {name: int(flags.raised(name).sum()) for name in FLAGS}
    summary = {name: each for name, each in opened.summary.items() if name not in _UNKNOWN}
    changed = {
        "pairs": len(rows),
        "cut": threshold.value,
        "cut_how": threshold.how,
        "precision": precision,
        "precision_interval": interval,
        "weakness": threshold.weakness,
        "other_cuts": [asdict(each) for each in threshold.others],
        "flags": {name: count for name, count in counts.items() if count},
        "rising": round(rising_share(opened.sources[rows], opened.targets[rows]), 4),
        "dropped": _dropped(opened, summary.get("dropped", {}), cut),
    }
    return {**summary, **changed}


def _dropped(opened: Opened, before: dict[str, int], cut: float) -> dict[str, int]:
    """Count anew what options drop above the cut; what is wrong is as it was."""
    counts = {name: before[name] for name in (WRONG, COPY) if name in before}
    ranks, asked = opened.ranks, opened.run.get("options", {})
    assert opened.flags is not None and ranks is not None
    above = ~opened.allowed & (ranks >= cut)  # what is known to be right is never dropped
    for name in set(MiningOptions(drop=asked.get("drop", [])).drop) - {COPY}:
        counts[name] = int((above & opened.flags.raised(name)).sum())
    return {name: count for name, count in counts.items() if count}
