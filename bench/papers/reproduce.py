"""The rows of a table: train what is to be trained, measure, and set figures beside the paper's."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NoReturn

from papers.benchmarks import BENCHMARKS
from papers.jobs import HUB, Place, TableJob, checkpoint, jobs_of
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair, load_encoders
from xmine.errors import FileError, XmineError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.papers.tables import Measure, PaperTable, TableRow, matching
from xmine.evaluation.reports.record import record, write_record
from xmine.evaluation.result import Result
from xmine.progress import Report, silent
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS
from xmine.trainer.train import train

Say = Callable[[str], None]


@dataclass(slots=True)
class Made:
    """What came of a row.

    Attributes:
        figures: column -> our figures, one for each seed, as papers print them; no column where
            the benchmark has no such row.
        measured: benchmark -> its protocol and files, in words.
        lacks: why a column has no figure, in words of its benchmark, each once.
        why: why there are no figures: cited, missing files, or what failed.
    """

    row: TableRow
    figures: dict[str, list[float]] = field(default_factory=dict)
    measured: dict[str, str] = field(default_factory=dict)
    lacks: list[str] = field(default_factory=list)
    why: str = ""


def reproduce(
    table: PaperTable,
    place: Place,
    seeds: Sequence[int] = (1,),
    only: Sequence[str] = (),
    report: Report = silent,
    say: Say = lambda text: None,
) -> list[Made]:
    """Make the rows of a table, all or some, and write `OUTPUT/PAPER-TABLE.json`.

    What is in `OUTPUT/encoders` and `OUTPUT/figures` is not made again. A row whose files are
    missing, or whose training fails, does not keep others from being made.

    Raises:
        FileError: an encoder in the output was made with other options or files.
    """
    found = []
    lacking_of = ((each.benchmark, lacking_files(each, place)) for each in table.measures)
    benchmarks = list(dict.fromkeys(f"{name}: {what}" for name, what in lacking_of if what))
    for row in table.rows:
        if only and row.name not in only:
            continue
        made = Made(row, why=f"cited: {row.cited}" if row.cited else "")
        if not made.why and (lacking := [*missing_files(table, row, place), *benchmarks]):
            made.why = f"missing: {'; '.join(lacking)}"
        if not made.why:
            try:
                _make(made, table, place, seeds, report, say)
            except OtherWork:
                raise
            except XmineError as error:
                made.why = f"failed: {error.message}"
        say(f"{row.name}: {made.why or 'measured'}")
        found.append(made)
    about: dict[str, Any] = {name: getattr(table, name) for name in ("name", "source", "title")}
    about |= {"columns": table.columns, "rows": [asdict(each) for each in found]}
    place.output.mkdir(parents=True, exist_ok=True)
    path = place.output / f"{table.name.replace('/', '-')}.json"
    write_record(path, record({**about, "seeds": list(seeds), "options": dict(place.options)}))
    return found


class OtherWork(FileError):
    """The output holds an encoder that was made with other options or files."""


def needs_of(table: PaperTable, row: TableRow, place: Place) -> dict[str, str]:
    """List what a row is made of, but for benchmarks: path below the data folder -> what it is."""
    found = checkpoint(row.encoder)
    for job in jobs_of(table, row, place):
        found |= job.needs
    return found


def missing_files(table: PaperTable, row: TableRow, place: Place) -> list[str]:
    """Say what a row is made of that neither the data folder has nor the hub."""
    needs = needs_of(table, row, place).items()
    return [f"{path} ({what})" for path, what in needs if what != HUB and not place.files(path)]


class _Read(Exception):
    """A benchmark has read its files, and begins to encode."""


def lacking_files(measure: Measure, place: Place) -> str:
    """Say which files of a benchmark are missing, by running it until it encodes."""

    def stop(*_: object, **__: object) -> NoReturn:
        raise _Read

    encoder = SentenceEncoder.load()
    for name in ("_encode_into", "encode_with_tokens"):
        setattr(encoder, name, stop)
    try:
        _run(measure, {}, place, silent, lambda options: as_pair(encoder), stop)
    except _Read:
        return ""
    except FileError as error:
        return error.expected if isinstance(error, MissingData) else error.message
    return ""


def _run(
    measure: Measure,
    encoding: Mapping[str, Any],
    place: Place,
    report: Report,
    load: Callable[[EvaluationOptions], EncoderPair],
    learner: Any = None,  # noqa: ANN401 - a Learner, or what only stands for one
) -> Result:
    """Run a benchmark; `data:` begins an option that is a path in the data folder."""
    benchmark = BENCHMARKS[measure.benchmark]
    known = {each.name for each in fields(benchmark.options)}
    of_all = {name: x for name, x in place.options.items() if name in ("device", "dtype")}
    of_row = {name: x for name, x in encoding.items() if name in known}
    values = {**of_all, **measure.options, **of_row}
    for name, value in values.items():
        if isinstance(value, str) and value.startswith("data:"):
            values[name] = str(place.data / value[5:])
    options = benchmark.options(**values)
    more = {"learner": learner} if learner and measure.benchmark == "transfer" else {}
    return benchmark.load()(load(options), DataFolder(place.data), options, report, **more)


def _make(
    made: Made, table: PaperTable, place: Place, seeds: Sequence[int], report: Report, say: Say
) -> None:
    """Train and measure a row, once for each seed; a checkpoint is measured once."""
    row = made.row
    for seed in seeds if row.model else seeds[:1]:
        name, label = place.encoder(row.encoder), row.encoder.replace("/", "-")
        for job in jobs_of(table, row, place, seed):
            _train(job, place, report, say)
            name, label = str(job.folder), job.folder.name
        for measure in table.measures:
            result = _measured(label, name, measure, row.encoding, place, report)
            made.measured[measure.benchmark] = f"{result.protocol}; {result.split}"
            found = _figures(measure, result)
            for title, value in found.items():
                made.figures.setdefault(title, []).append(value)
            if found.keys() < measure.columns.keys():
                said = (note for note in result.notes if note.startswith("No "))
                made.lacks += [note for note in said if note not in made.lacks]


def _train(job: TableJob, place: Place, report: Report, say: Say) -> None:
    """Train an encoder, unless it is there; one without a note was trained elsewhere."""
    kinds = job.files.items()
    files = {kind: [file for path in paths for file in place.files(path)] for kind, paths in kinds}
    asked = {"method": job.method, "files": files, "options": dict(job.options)}
    note = job.folder.with_name(f"{job.folder.name}.json")
    if job.folder.exists():
        if note.exists() and json.loads(note.read_text(encoding="utf-8"))["asked"] != asked:
            hint = "give another -o, or remove it"
            raise OtherWork(f"{job.folder}: was made with other options or files", hint)
        return
    note.parent.mkdir(parents=True, exist_ok=True)
    write_record(note, {"asked": asked})
    say(f"training {job.folder.name}")
    [nli] = files.get("nli", [None])
    parts = {kind: files.get(kind, ()) for kind in ("pairs", "triplets", "texts")}
    options = METHODS[job.method].options(**job.options)
    corpus = Corpus.read(**parts, nli=nli, folder=job.folder.parent)
    trained = train(job.method, corpus, options, job.folder, report, resume="auto")
    told = {"measures": trained.measures, "remarks": list(trained.remarks)}
    write_record(note, record({"asked": asked, **told}))


def _measured(
    label: str,
    name: str,
    measure: Measure,
    encoding: Mapping[str, Any],
    place: Place,
    report: Report,
) -> Result:
    """Measure an encoder, or read what was measured before."""
    about = [measure.benchmark, dict(measure.options), dict(encoding), str(place.data)]
    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:8]
    path = place.output / "figures" / f"{label}.{measure.benchmark}-{key}.json"
    if path.exists():
        return Result.from_json(json.loads(path.read_text(encoding="utf-8")))

    def load(options: EvaluationOptions) -> EncoderPair:
        encoder = load_encoders(name, options)
        if options.pooling:
            encoder.repool(options.pooling)
        return encoder

    result = _run(measure, encoding, place, report, load)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_record(path, record({**result.as_json(), "encoder": name, "asked": about}))
    return result


def _figures(measure: Measure, result: Result) -> dict[str, float]:
    """Take the figures of the columns, as papers print them."""
    scales, found = {metric.name: metric.scale for metric in result.metrics}, {}
    rows = [row for row in result.rows if not row.is_reranked]
    for title, (pattern, metric) in measure.columns.items():
        there = {row.name: row.figures[metric] for row in rows if metric in row.figures}
        if name := matching([*there], pattern):
            found[title] = there[name] * scales[metric]
    return found


def side_by_side(table: PaperTable, found: Sequence[Made]) -> list[list[str]]:
    """Lay the rows out as a table of texts, its head first: a line for each figure."""
    titles = table.columns
    cells = [[titles[0] if len(titles) == 1 else "", "ours", "paper"]]
    columns = zip(*(row.paper for row in table.rows if row.paper), strict=True)
    of_paper = [max(len(str(x).partition(".")[2]) for x in column) for column in columns]
    for made in found:
        paper = dict(zip(titles, made.row.paper, strict=False))
        state = made.why.partition(":")[0]  # cited, missing or failed
        if len(titles) > 1:
            cells.append([made.row.name, state, ""])
        for title, digits in zip(titles, of_paper or [1] * len(titles), strict=True):
            printed, ours = paper.get(title, -1), made.figures.get(title, [])
            if not ours and printed == -1 and len(titles) > 1:
                continue
            spread = f" ± {stdev(ours):.{digits}f}" if len(ours) > 1 else ""
            shown = f"{fmean(ours):.{digits}f}{spread}" if ours else "-"
            name, shown = (
                (f"  {title}", shown) if len(titles) > 1 else (made.row.name, state or shown)
            )
            cells.append([name, shown, "-" if printed == -1 else f"{printed:.{digits}f}"])
    return cells


def notes(table: PaperTable, found: Sequence[Made]) -> list[str]:
    """Say why rows have no figures of ours, and what keeps others from being compared."""
    said: dict[str, list[str]] = {}
    for made in found:
        for text in (made.why, made.row.differs, *made.lacks):
            said.setdefault(text, []).append(made.row.name)
    said.pop("", None)
    whole = [table.differs, *(measure.differs for measure in table.measures)]
    rows = [f"{', '.join(names)}: {text}" for text, names in said.items()]
    return list(dict.fromkeys(filter(None, [*whole, *rows])))


def listed(tables: Sequence[PaperTable], place: Place | None = None) -> list[str]:
    """Say how the rows of tables are made, and what all need; with a place, what of that it has."""
    lines, needs = list[str](), dict[str, str]()
    for table in tables:
        lines.append(f"{table.name}  {table.title}")
        for row in table.rows:
            how = f"cited: {row.cited}" if row.cited else row.encoder or f"train {row.model}"
            changed = [f"{name} {x}" for name, x in {**row.options, **row.encoding}.items()]
            lines.append(f"  {row.name}: {', '.join([how, *changed])}")
            needs |= needs_of(table, row, place or Place(Path(), Path(), {}))
    for path, what in needs.items():
        lacks = "downloads" if what == HUB else "lacks"
        state = "needs" if not place else "has" if place.files(path) else lacks
        lines.append(f"{state} {path}: {what}")
    measures = {each.benchmark: each for table in tables for each in table.measures}
    for measure in measures.values():
        what = lacking_files(measure, place) if place else BENCHMARKS[measure.benchmark].reads
        state = "needs" if not place else "lacks" if what else "has"
        lines.append(f"{state} files of {measure.benchmark}: {what or 'all'}")
    return lines
