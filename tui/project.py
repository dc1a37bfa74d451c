"""A folder -> what is below it: runs, encoders, files of pairs, and texts that may be mined."""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from warnings import catch_warnings

from xmine.browsing.opening import open_pairs, stamp
from xmine.encoders.fingerprint import FACTS_FILE
from xmine.errors import XmineError
from xmine.files.digests import identity
from xmine.files.suffixes import kind_of
from xmine.judging.counts import Counts, Share
from xmine.judging.judgements import Judgements, judge_name
from xmine.pairs.judgements import as_time
from xmine.run.below import walk
from xmine.run.folder import JUDGEMENTS_FILE, PAIRS_FILE, RUN_FILE, SUMMARY_FILE
from xmine.text.glance import glance, is_text, pairs_of

from .state import read_object, setting

_MANY = 4  # languages are counted
_GLANCES, _OFFERS = 40, 3  # texts that are looked into, and pairs of texts that are offered


@dataclass(frozen=True, slots=True)
class Entry:
    """A run, a file of pairs, an encoder, a text, or two texts that may be mined."""

    path: str
    kind: str  # run; unfinished, a run that can be resumed; file; encoder; text; texts
    pairs: str = ""  # how many a run keeps, or the lines of a text; empty where that is not known
    judged: int = 0  # how many pairs have a verdict
    accepted: float | None = None  # the share of right pairs among those accepted or rejected
    expected: float | None = None  # the precision by the estimate
    languages: str = ""  # codes with a hyphen between; of a text the name of its language
    encoder: str = ""  # of a run its encoder, of an encoder the method of its training
    changed: str = ""  # when it was written or judged, in UTC, as in 2026-01-31T12:00:00Z
    other: "Entry | None" = None  # of two texts the second one


def project(folder: Path) -> list[Entry]:
    """List runs and encoders below a folder, the newest first; then texts, and files of pairs."""
    from xmine.pairs.paths import FORMATS  # here: it loads every format

    found = map(look, map(str, walk(folder, {RUN_FILE, FACTS_FILE})))
    entries = sorted(found, key=attrgetter("changed"), reverse=True)
    with suppress(OSError), os.scandir(folder) as files:
        for each in sorted(files, key=attrgetter("name")):
            path = os.path.join(folder, each.name)
            if each.name[0] == "." or each.name.endswith(JUDGEMENTS_FILE) or not each.is_file():
                continue
            if is_text(path):
                entries.append(Entry(path, "text"))
            elif kind_of(path) in FORMATS:
                entries.append(look(path))
    return entries


def with_texts(entries: list[Entry]) -> list[Entry]:
    """Look into the first texts; pairs of them that may be mined stand first."""
    texts = [each.path for each in entries if each.kind == "text"][:_GLANCES]
    seen = {path: glance(path) for path in texts}
    told = {
        path: Entry(path, "text", found.lines, languages=found.in_words)
        for path, found in seen.items()
    }
    held = [(path, found.language) for path, found in seen.items() if found.lines != "0 lines"]
    offers = [replace(told[one], kind="texts", other=told[other]) for one, other in pairs_of(held)]
    return [*offers[:_OFFERS], *(told.get(each.path, each) for each in entries)]


def look(path: str) -> Entry:
    """Tell what is at a path now."""
    place = Path(path)
    if (place / RUN_FILE).is_file():
        return _run(place)
    if (place / FACTS_FILE).is_file():
        facts = read_object(place / FACTS_FILE)
        said = _joined(facts.get("languages")), str(facts.get("method") or "")
        changed = _written(place / FACTS_FILE)
        return Entry(path, "encoder", "", 0, None, None, *said, changed)
    return Entry(path, "file", changed=_written(place))


def _run(run: Path) -> Entry:
    said, judged, right = read_object(run / SUMMARY_FILE), 0, Share(0, 0)
    if (verdicts := identity(run / JUDGEMENTS_FILE)) is not None:
        with suppress(OSError, XmineError):
            judged, right = _verdicts(
                run, judge_name(setting("judge")), (verdicts, str(stamp(run)))
            )
    vectors = said.get("vectors")
    pairs, expected = said.get("beads", said.get("pairs")), said.get("precision")
    encoder = vectors.get("model") if isinstance(vectors, dict) else None
    is_whole = all((run / name).is_file() for name in (PAIRS_FILE, SUMMARY_FILE))
    return Entry(
        str(run),
        "run" if is_whole else "unfinished",
        f"{pairs:,}" if isinstance(pairs, int) else "",
        judged,
        right.share,
        expected if isinstance(expected, float) else None,
        _joined(said.get("languages")),
        Path(str(encoder or "")).name,
        max(_written(run / name) for name in (RUN_FILE, JUDGEMENTS_FILE)),
    )


@lru_cache(maxsize=200)
def _verdicts(run: Path, by: str, _: object) -> tuple[int, Share]:
    """Count one's verdicts on the pairs that a run has, and the share of right ones."""
    with catch_warnings(action="ignore"):  # whoever opens the run is told
        judgements = Judgements.open(open_pairs(run), by)
    return judgements.counts().judged, Counts.of(judgements.codes(own=True, given=False)).right


def _joined(codes: object) -> str:
    if not isinstance(codes, list):
        return ""
    return "-".join(map(str, codes)) if len(codes) < _MANY else f"{len(codes)} langs"


def _written(file: Path) -> str:
    """Tell when a file was written, as `Entry.changed`; empty where there is none."""
    found = identity(file)
    return as_time(found[2] / 1e9) if found else ""
