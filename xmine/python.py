"""The commands as functions: options are keywords, a model may be a name, results are sequences.

    mined = xmine.mine("a.en", "b.de", precision=0.99, progress=True)

Each function makes the options object of its command and calls the function behind the command. A
file, a model or an option that is wrong raises an XmineError with a message and a hint. What type
checkers know of the keywords stands in mining/keywords.pyi, of `python tests/keywords.py`.
"""

import dataclasses
import difflib
import inspect
import json
import re
import textwrap
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from numpy.typing import NDArray

from xmine.aligning import pipeline as aligning
from xmine.aligning.aligned import Aligned
from xmine.aligning.options import AligningOptions
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, load_encoders
from xmine.encoders.rescorer import Rescorer, load_rescorer
from xmine.errors import FileError, OptionError, XmineError, XmineWarning
from xmine.mining import aligned as scoring
from xmine.mining import pipeline as mining
from xmine.mining.aligned_scores import AlignedScores
from xmine.mining.documents import DocumentPair, pair_documents
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.search import Hit
from xmine.mining.search import search as search_sentences
from xmine.options import EncodingOptions, Options, check_choice
from xmine.pairs import io
from xmine.pairs.known import NOTHING_KNOWN, LabelledPairs
from xmine.pairs.pair import COLUMNS, UNKNOWN_LANGUAGES, Languages, Pair, is_kept
from xmine.pairs.rows import PairRows
from xmine.progress import Report, bar, silent
from xmine.run.folder import PAIRS_FILE, RUN_FILE, SUMMARY_FILE
from xmine.run.run_file import check_written
from xmine.run.task import Engine
from xmine.text.inputs import Texts, text_input
from xmine.text.sentences import read_sentences

if TYPE_CHECKING:
    import polars as pl

    from xmine.browsing.opened import Opened
    from xmine.evaluation.result import Result
    from xmine.mining.keywords import AligningKeywords, MiningKeywords, ScoringKeywords
    from xmine.trainer.adapt import Round
    from xmine.trainer.train import Trained

Model = SentenceEncoder | EncoderPair | str | Path | None
Known = LabelledPairs | str | Path
Vectors = tuple[NDArray[Any], NDArray[Any]]
Of = TypeVar("Of", bound=Options)
Function = TypeVar("Function", bound=Callable[..., object])
# `--min-prob 0.3`, `--gold FILE`, `--segment` in a message.
_FLAG = re.compile(r"--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?: (?=[0-9.'\"A-Z]))?")


def _keyword(found: re.Match[str]) -> str:
    name = found[1].replace("-", "_")
    return f"{name}=" if found[0].endswith(" ") else name


@contextmanager
def _speaking_python() -> Iterator[None]:
    """Name keywords, not flags, in an error."""
    try:
        yield
    except XmineError as error:
        said = (_FLAG.sub(_keyword, each) for each in (error.message, error.hint))
        raise type(error)(*said) from error


class _InShort(inspect.Signature):
    """A signature that `help` shows by its names: types and options stand below, each on a line."""

    __slots__ = ()

    def __str__(self) -> str:
        """Write the parameters that a call names most."""
        first = [each for each in self.parameters.values() if each.kind is not each.KEYWORD_ONLY]
        names = [f"{each.name}{'=…' * (each.default is not each.empty)}" for each in first]
        return f"({', '.join(names)}, **keywords)"

    def format(self, **_: object) -> str:
        """Write the same for `help` of Python 3.13 and newer."""
        return str(self)


def _takes(kind: type[Options]) -> Callable[[Function], Function]:
    """Name the fields of an options class as keywords, for `help` and for what completes them."""

    def with_keywords(function: Function) -> Function:
        own, hints, usual = inspect.signature(function), typing.get_type_hints(kind), kind()
        fields = [each for each in dataclasses.fields(kind) if each.name not in own.parameters]  # type: ignore[arg-type]
        named = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        groups: dict[str, list[str]] = {"Most used": []}  # first
        for each in fields:
            value, about, hint = getattr(usual, each.name), each.metadata, hints[each.name]
            more = {"default": value, "annotation": hint}
            named.append(inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, **more))
            said = _FLAG.sub(_keyword, about["help"])
            if not all(word in said for word in about["choices"]):
                said += f" One of {', '.join(about['choices'])}."
            said += f" Default: {about['shown_default']}." * bool(about["shown_default"])
            told = groups.setdefault(about["group"] or "Others", [])
            told.append(f"  {each.name}: {inspect.formatannotation(hint)} = {value!r}")
            told += textwrap.wrap(said, 88, initial_indent=" " * 6, subsequent_indent=" " * 6)
        function.__signature__ = _InShort(named, return_annotation=own.return_annotation)  # type: ignore[attr-defined]
        shown = [x for name, lines in groups.items() if lines for x in ("", f"{name}:", *lines)]
        about_all = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = "\n".join(
            [about_all, "", "Options, by the groups of the command:", *shown]
        )
        return function

    return with_keywords


def _options(kind: type[Of], options: Of | None, named: dict[str, Any]) -> Of:
    """Make options of keywords, and refuse what is none; a list may be one text with commas."""
    if options is not None and type(options) is not kind:
        raise TypeError(f"{type(options).__name__} in place of {kind.__name__}")
    fields = {each.name: each.type for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name, value in named.items():
        if name not in fields:
            near = difflib.get_close_matches(name, fields, 1)
            hint = f"did you mean {near[0]}?" if near else f"help(xmine.{kind.__name__}) lists all"
            raise OptionError(f"{name!r} is no keyword", hint)
        if isinstance(value, str) and typing.get_origin(typing.get_type_hints(kind)[name]) is list:
            named = named | {name: [value] if value else []}
    base = {} if options is None else {name: getattr(options, name) for name in fields}
    return kind(**{**base, **named})


def _loaded(model: Model, options: EncodingOptions) -> SentenceEncoder | EncoderPair:
    if isinstance(model, SentenceEncoder | EncoderPair):
        return model
    if model is not None and not isinstance(model, str | Path):
        raise TypeError(f"{model!r} is no encoder: give a name, a folder or a SentenceEncoder")
    return load_encoders(None if model is None else str(model), options)


@_takes(MiningOptions)
def mine(
    source: Texts,
    target: Texts,
    model: Model = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    progress: bool = False,
    run: str | Path | None = None,
    force: bool = False,
    seed_pairs: Known = NOTHING_KNOWN,
    gold: Known = NOTHING_KNOWN,
    rescore: Rescorer | str | Path | None = None,
    vectors: Vectors | None = None,
    engine: Engine | None = None,
    **more: "Unpack[MiningKeywords]",
) -> Mined:
    """Mine the parallel sentences of two texts: `xmine mine --as lines`.

    Args:
        source: a file with a sentence per line, a folder, `path:column`, or texts: a list, an
            array, a column of a table.
        target: the same in the other language.
        model: a folder, a Hugging Face name, or an encoder; by default the embedded one.
        options: see MiningOptions; keywords go over it.
        report: called with each `Progress`.
        progress: draw a bar, in a terminal or in a notebook.
        run: a folder that keeps the result and resumes after a kill.
        force: replace what other texts left in `run`.
        seed_pairs: pairs that are known to be right or wrong, see `read_known`, or their file.
        gold: all right pairs, or their file.
        rescore: a second model that judges the candidates.
        vectors: a matrix for each side, a row for every line, in place of a model.
        engine: where a `run` works, see `xmine.run.ray.RayEngine`; here by default.
        more: each field of MiningOptions, such as `precision`.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(MiningOptions, options, dict(more))
        if engine is not None and not hasattr(engine, "shared"):
            raise OptionError(f"engine is {engine!r}", "give xmine.run.ray.RayEngine(address)")
        if isinstance(rescore, str | Path):
            rescore = load_rescorer(rescore, chosen)
        return mining.mine(
            source,
            target,
            _loaded(model, chosen) if vectors is None or model else None,
            chosen,
            told,
            vectors=vectors,
            seeds=seed_pairs,
            gold=gold,
            rescorer=rescore,
            run=run,
            force=force,
            engine=engine,
        )


@_takes(AligningOptions)
def align(
    source: Texts,
    target: Texts,
    model: Model = None,
    options: AligningOptions | None = None,
    report: Report = silent,
    *,
    progress: bool = False,
    run: str | Path | None = None,
    force: bool = False,
    **more: "Unpack[AligningKeywords]",
) -> Aligned:
    """Align the lines of two versions of one document: `xmine align`.

    Args:
        source, target, model, options, report, progress, force: see `mine`.
        run: a folder for the beads.
        more: each field of AligningOptions.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(AligningOptions, options, dict(more))
        encoder = _loaded(model, chosen)
        return aligning.align(source, target, encoder, chosen, told, run=run, force=force)


@_takes(ScoringOptions)
def score(
    source: Texts,
    target: Texts | None = None,
    model: Model = None,
    options: ScoringOptions | None = None,
    report: Report = silent,
    *,
    progress: bool = False,
    pool: tuple[Texts, Texts] | None = None,
    vectors: Vectors | None = None,
    **more: "Unpack[ScoringKeywords]",
) -> AlignedScores:
    """Score pairs that are aligned already: `xmine score`.

    Args:
        source: texts, or a file of pairs; then there is no `target`.
        target, model, options, report, progress, vectors: see `mine`.
        pool: two text inputs with more lines.
        more: each field of ScoringOptions.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(ScoringOptions, options, dict(more))
        encoder = _loaded(model, chosen) if vectors is None or model else None
        more_texts: Any = {"pool": pool, "vectors": vectors}
        return scoring.score_aligned(source, target, encoder, chosen, told, **more_texts)


def documents(
    source: Texts,
    target: Texts,
    model: Model = None,
    report: Report = silent,
    *,
    by: str = "auto",
    min_prob: float = 0.5,
    progress: bool = False,
) -> list[DocumentPair]:
    """Pair the documents of two folders: `xmine documents`.

    Args:
        source, target, model, report, progress: see `mine`.
        by: the column that names the document of each line; `auto`: each file is one.
        min_prob: the lowest probability of a pair.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        options = MiningOptions(documents=by)
        pairs = pair_documents(source, target, _loaded(model, options), options, told)
        return [pair for pair in pairs if pair.prob >= min_prob]


@_takes(EncodingOptions)
def search(
    query: str | Sequence[str],
    corpus: Texts,
    k: int = 3,
    model: Model = None,
    report: Report = silent,
    *,
    progress: bool = False,
    rerank: str = "auto",
    exclude_exact: bool = False,
    prompt: str = "",
    **more: Any,  # noqa: ANN401 - fields of EncodingOptions
) -> list[Hit] | list[list[Hit]]:
    """Find the nearest sentences of a text, in either language: `xmine search`.

    Args:
        query: a text, or several.
        corpus: a text input, see `mine`.
        k: hits for each text.
        model, report, progress: see `mine`.
        rerank: `auto`, `tokens` or `off`.
        exclude_exact: leave out the text itself.
        prompt: a text to put before the query, or the name of a prompt of the encoder.
        more: each field of EncodingOptions.

    Returns:
        hits, best first; of several texts a list for each.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        pair = _loaded(model, _options(EncodingOptions, None, more))
        one = pair if isinstance(pair, SentenceEncoder) else pair.source
        texts = [query] if isinstance(query, str) else list(query)
        given = text_input(corpus)
        sentences = read_sentences(given)
        for warning in given.warnings:
            warnings.warn(warning, XmineWarning, stacklevel=2)
        how: Any = {"rerank": rerank, "exclude_exact": exclude_exact, "prompt": prompt}
        found = search_sentences(texts, sentences, one, k, report=told, **how)
        return found[0] if isinstance(query, str) else found


def write_pairs(
    pairs: "Iterable[Pair] | pl.DataFrame | Any",  # noqa: ANN401 - or a frame of pandas
    path: str | Path,
    languages: Languages = UNKNOWN_LANGUAGES,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
) -> io.Written:
    """Write pairs to a file; the suffix decides the format, see docs/reference/files.md.

    Args:
        pairs: pairs, or a frame of polars or pandas with columns `source` and `target` and others
            of `Pair`, such as `mined.to_polars()` with some rows left out.
        path: an older file is replaced; it appears whole or not at all.
        languages: codes of the source and the target, for formats that name languages.
        src_lang, tgt_lang: the same, one by one.

    Returns:
        the number of pairs, and notes on what the format could not hold.

    Raises:
        OptionError: no format has that suffix, or a frame lacks `source` or `target`.
        FileError: the file cannot be written.
    """
    with _speaking_python():
        codes = (src_lang or languages[0], tgt_lang or languages[1])
        if hasattr(pairs, "columns") and not isinstance(pairs, PairRows):
            pairs = _pairs_of(pairs)
        return io.write_pairs(pairs, path, codes)


def _pairs_of(frame: Any) -> Iterator[Pair]:  # noqa: ANN401 - a frame of polars or pandas
    names = list(frame.columns)
    if missing := [each for each in ("source", "target") if each not in names]:
        raise OptionError(f"the table has no column {missing[0]!r}", "pairs are source and target")
    names = [name for name in names if name in COLUMNS or is_kept(name)]
    for row in zip(*(frame[name].to_list() for name in names), strict=True):
        # pandas has NaN, which equals nothing, for what is missing
        values = {n: None if x != x else x for n, x in zip(names, row, strict=True)}
        yield Pair.of({n: x for n, x in values.items() if n in COLUMNS or x is not None})


def convert(
    source: str | Path,
    target: str | Path,
    *,
    src_lang: str = "",
    tgt_lang: str = "",
) -> io.Written:
    """Write a file of pairs, or the pairs of a run, in another format: `xmine convert`.

    Languages are those of `source` where no other is given.
    """
    with _speaking_python():
        codes = io.languages_of(source) or UNKNOWN_LANGUAGES
        pairs = io.read_pairs(source)
        return write_pairs(pairs, target, codes, src_lang=src_lang, tgt_lang=tgt_lang)


def train(
    pairs: str | Sequence[str] = (),
    *,
    output: str | Path,
    method: str = "msimcse",
    triplets: Sequence[str] = (),
    nli: str | None = None,
    texts: Sequence[str] = (),
    report: Report = silent,
    progress: bool = False,
    resume: bool = False,
    force: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> "Trained":
    """Train an encoder: `xmine train`.

    Args:
        pairs, triplets, nli, texts: files to learn from, as the command takes them.
        output: the folder of the encoder.
        method: `moco`, `msimcse`, `transaug` or `emma-x`.
        report, progress: see `mine`.
        resume: go on with a run that was stopped.
        force: replace `output`.
        more: each option of the method, such as `epochs`.
    """
    from xmine.trainer.data.corpus import Corpus
    from xmine.trainer.methods import METHODS
    from xmine.trainer.train import train as trained

    with _speaking_python(), bar(report, wanted=progress) as told:
        check_choice("method", method, METHODS)
        kind = METHODS[method].options
        chosen = _options(kind, None, more)
        files = [pairs] if isinstance(pairs, str) else list(pairs)
        corpus = Corpus.read(files, list(triplets), nli, list(texts), Path(output).parent)
        how: Any = {"resume": resume, "force": force, "compares": True}
        return trained(method, corpus, chosen, Path(output), told, **how)


def adapt(
    run: str | Path,
    *,
    output: str | Path,
    report: Report = silent,
    progress: bool = False,
    force: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> "list[Round]":
    """Train the encoder of a run on its confident pairs, and mine again: `xmine adapt`.

    Args:
        run: the folder of a mining run.
        output: a folder for encoders and runs.
        report, progress: see `mine`.
        force: throw away what `output` has from before.
        more: each field of AdaptOptions, such as `rounds`.

    Returns:
        the rounds; `xmine.trainer.adapt.best_of` chooses one.
    """
    from xmine.trainer.adapt import adapt as adapted
    from xmine.trainer.options.adapt import AdaptOptions

    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(AdaptOptions, None, more)
        return list(adapted(Path(run), Path(output), chosen, told, force=force))


def evaluate(
    benchmark: str,
    data: str | Path,
    model: Model = None,
    report: Report = silent,
    *,
    progress: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> "Result":
    """Measure an encoder on a benchmark: `xmine eval`.

    Args:
        benchmark: a name that `xmine eval --help` lists, such as `tatoeba`.
        data: the folder with the files of the benchmark.
        model, report, progress: see `mine`.
        more: each option of the benchmark, such as `language`.
    """
    from xmine.evaluation.benchmarks import BENCHMARKS
    from xmine.evaluation.data import DataFolder

    with _speaking_python(), bar(report, wanted=progress) as told:
        check_choice("benchmark", benchmark, BENCHMARKS)
        asked = BENCHMARKS[benchmark]
        chosen = _options(asked.options, None, more)
        return asked.load()(_loaded(model, chosen), DataFolder(Path(data)), chosen, told)


class Run(PairRows):
    """A folder that `xmine mine -o run/` has left: its kept pairs, and the figures of `summary`.

    Attributes:
        path: the folder.
        summary: what `summary.json` has.
        pairs: the kept pairs.
    """

    def __init__(self, path: Path) -> None:
        """Read a finished run; see `open_run`."""
        check_written(path, PAIRS_FILE, SUMMARY_FILE)
        self.path, self.pairs = path, list(io.read_pairs(str(path)))
        self.summary: dict[str, Any] = json.loads((path / SUMMARY_FILE).read_text("utf-8"))

    def __repr__(self) -> str:
        """Count the pairs."""
        return f"<Run {self.path}: {len(self):,} pairs>"

    def rows(self) -> Iterator[Pair]:
        """Walk through the pairs."""
        return iter(self.pairs)

    @cached_property
    def _all(self) -> "Opened":
        """All candidates, kept or not, which are read when they are first asked for."""
        from xmine.browsing.opening import open_pairs

        return open_pairs(self.path)

    def where(self, condition: str) -> "pl.DataFrame":
        """Find candidates, kept or not, by a condition, or kept pairs by a text, as `--where` does.

        Returns:
            a row for each, best first; `write_pairs` writes it.

        Raises:
            OptionError: the condition cannot be read.
        """
        from xmine.browsing.query import PairQuery, select
        from xmine.judging.judgements import Judgements
        from xmine.pairs.pair import pair_frame

        with _speaking_python():
            judgements = Judgements.open(self._all)
            rows = select(judgements.standing(), PairQuery(condition), said=judgements.said)
            frame = pair_frame(judgements.pairs(rows, written=False))
            return frame[[each.name for each in frame if each.null_count() < len(frame)]]

    def judge(self, source_line: int, target_line: int, verdict: str, note: str = "") -> None:
        """Say `accept`, `reject`, `unsure`, or `none` to take that back: at once on the disk.

        Kinds of `reject` are `partial`, `language`, and `source` or `target`: what is too long.

        Raises:
            OptionError: no candidate has the two lines, or there is no such verdict.
        """
        from xmine.browsing.opened import row_at
        from xmine.judging.judgements import Judgements
        from xmine.pairs.judgements import PATIENCE, TAKEN_BACK, WORDS

        with _speaking_python():
            check_choice("verdict", verdict, (*WORDS, TAKEN_BACK))
            row = row_at(self._all, (source_line, None), (target_line, None))
            judgements = Judgements.open(self._all, patience=PATIENCE)
            judgements.judge(row, verdict)
            if note:
                judgements.note(row, note)

    def search(self, text: str, k: int = 10) -> dict[str, list[Hit]]:
        """Find the k sentences of both sides, `source` and `target`, nearest to a text."""
        from xmine.browsing.search import Nearby

        with _speaking_python():
            return Nearby(self._all).search(text, k)


def open_run(path: str | Path) -> Run:
    """Open the folder of a finished run.

    Raises:
        FileError: there is no finished run.
    """
    with _speaking_python():
        if not (Path(path) / RUN_FILE).is_file():
            raise FileError(f"{path}: no mining run there", f"it has no {RUN_FILE}")
        return Run(Path(path))
