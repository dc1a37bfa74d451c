"""The commands as functions: options are keywords, an encoder may be a name, results are sequences.

    mined = xmine.mine("a.en", "b.de", precision=0.99, progress=True)

Each function makes the options object of its command and calls the function behind the command. A
file, an encoder or an option that is wrong raises an XmineError with a message and a hint.
"""

import dataclasses
import inspect
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from xmine.aligning import pipeline as aligning
from xmine.aligning.aligned import Aligned
from xmine.aligning.options import AligningOptions
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, load_encoders
from xmine.errors import FileError, OptionError, XmineError, XmineWarning
from xmine.mining import aligned as scoring
from xmine.mining import pipeline as mining
from xmine.mining.aligned_scores import AlignedScores
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.search import Hit
from xmine.mining.search import search as search_sentences
from xmine.options import EncodingOptions, Options
from xmine.pairs.io import read_pairs
from xmine.pairs.pair import Pair
from xmine.pairs.rows import PairRows
from xmine.progress import Report, bar, silent
from xmine.run.folder import PAIRS_FILE, RUN_FILE, SUMMARY_FILE
from xmine.run.run_file import check_written
from xmine.text.inputs import Texts, text_input
from xmine.text.sentences import read_sentences

if TYPE_CHECKING:
    from xmine.evaluation.result import Result
    from xmine.trainer.adapt import Round
    from xmine.trainer.train import Trained

Encoder = SentenceEncoder | EncoderPair | str | Path | None
Of = TypeVar("Of", bound=Options)
Given = ParamSpec("Given")
Made = TypeVar("Made")
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


def _options(kind: type[Of], options: Of | None, named: dict[str, Any]) -> Of:
    """Make options of keywords; whatever is none of them stays in `named`."""
    if options is not None and not isinstance(options, kind):
        raise TypeError(f"{type(options).__name__} in place of {kind.__name__}")
    names = {each.name for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    own = {name: named.pop(name) for name in names & named.keys()}
    base: dict[str, Any] = {} if options is None else {n: getattr(options, n) for n in names}
    return kind(**{**base, **own})


def _no_others(named: dict[str, Any], kind: type[Options]) -> None:
    if named:
        raise OptionError(
            f"{next(iter(named))!r} is no keyword", f"help(xmine.{kind.__name__}) lists the options"
        )


def _loaded(encoder: Encoder, options: Options) -> SentenceEncoder | EncoderPair:
    if isinstance(encoder, SentenceEncoder | EncoderPair):
        return encoder
    if encoder is not None and not isinstance(encoder, str | Path):
        raise TypeError(f"{encoder!r} is no encoder: give a name, a folder or a SentenceEncoder")
    names = [each.name for each in dataclasses.fields(EncodingOptions)]
    asked = EncodingOptions(**{n: getattr(options, n) for n in names if hasattr(options, n)})
    return load_encoders(None if encoder is None else str(encoder), asked)


def mine(
    source: Texts,
    target: Texts,
    encoder: Encoder = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    progress: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> Mined:
    """Mine the parallel sentences of two texts: `xmine mine`.

    Args:
        source: a file with a sentence per line, a folder, `path:column`, or a list of sentences.
        target: the same in the other language.
        encoder: a folder, a Hugging Face name, or an encoder; by default the embedded one.
        options: see MiningOptions; keywords go over it.
        report: called with each `Progress`.
        progress: draw a bar, in a terminal or in a notebook.
        more: each field of MiningOptions, such as `precision`; `run`, a folder that keeps the
            result and resumes after a kill; `seeds`, `gold`, `vectors`, `rescorer`, `force`,
            `engine`, see `xmine.mining.pipeline.mine`.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(MiningOptions, options, more)
        if "vectors" not in more:
            encoder = _loaded(encoder, chosen)
        return _called(mining.mine, more, MiningOptions)(source, target, encoder, chosen, told)


def align(
    source: Texts,
    target: Texts,
    encoder: Encoder = None,
    options: AligningOptions | None = None,
    report: Report = silent,
    *,
    progress: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> Aligned:
    """Align the lines of two versions of one document: `xmine align`.

    Args:
        source, target, encoder, options, report, progress: see `mine`.
        more: each field of AligningOptions; `run`, a folder for the beads; `force`.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(AligningOptions, options, more)
        made = _called(aligning.align, more, AligningOptions)
        return made(source, target, _loaded(encoder, chosen), chosen, told)


def score(
    source: Texts,
    target: Texts | None = None,
    encoder: Encoder = None,
    options: ScoringOptions | None = None,
    report: Report = silent,
    *,
    progress: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> AlignedScores:
    """Score pairs that are aligned already: `xmine score`.

    Args:
        source: texts, or a file of pairs; then there is no `target`.
        target, encoder, options, report, progress: see `mine`.
        more: each field of ScoringOptions; `pool`, two text inputs with more lines; `vectors`.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(ScoringOptions, options, more)
        if "vectors" not in more:
            encoder = _loaded(encoder, chosen)
        made = _called(scoring.score_aligned, more, ScoringOptions)
        return made(source, target, encoder, chosen, told)


def search(
    query: str | Sequence[str],
    corpus: Texts,
    k: int = 3,
    encoder: Encoder = None,
    report: Report = silent,
    *,
    progress: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> list[Hit] | list[list[Hit]]:
    """Find the nearest sentences of a text, in either language: `xmine search`.

    Args:
        query: a text, or several.
        corpus: a text input, see `mine`.
        k: hits for each text.
        encoder, report, progress: see `mine`.
        more: `rerank` (`auto`, `tokens`, `off`), `exclude_exact`, `prompt`, and each field of
            EncodingOptions.

    Returns:
        hits, best first; of several texts a list for each.
    """
    with _speaking_python(), bar(report, wanted=progress) as told:
        pair = _loaded(encoder, _options(EncodingOptions, None, more))
        one = pair if isinstance(pair, SentenceEncoder) else pair.source
        texts = [query] if isinstance(query, str) else list(query)
        given = text_input(corpus)
        sentences = read_sentences(given)
        for warning in given.warnings:
            warnings.warn(warning, XmineWarning, stacklevel=2)
        found = search_sentences(texts, sentences, one, k, report=told, **more)
        return found[0] if isinstance(query, str) else found


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
        if method not in METHODS:
            raise OptionError(f"method is {method!r}", f"choose from {', '.join(METHODS)}")
        kind = METHODS[method].options
        chosen = _options(kind, None, more)
        _no_others(more, kind)
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
    pairs: Sequence[str] = (),
    **more: Any,  # noqa: ANN401 - options, see below
) -> "list[Round]":
    """Train the encoder of a run on its confident pairs, and mine again: `xmine adapt`.

    Args:
        run: the folder of a mining run.
        output: a folder for encoders and runs.
        report, progress: see `mine`.
        force: throw away what `output` has from before.
        pairs: files of other translations.
        more: each field of AdaptOptions, such as `rounds`.

    Returns:
        the rounds; `xmine.trainer.adapt.best_of` chooses one.
    """
    from xmine.trainer.adapt import adapt as adapted
    from xmine.trainer.options.adapt import AdaptOptions

    with _speaking_python(), bar(report, wanted=progress) as told:
        chosen = _options(AdaptOptions, None, more)
        _no_others(more, AdaptOptions)
        return list(adapted(Path(run), Path(output), chosen, told, more=pairs, force=force))


def evaluate(
    benchmark: str,
    data: str | Path,
    encoder: Encoder = None,
    report: Report = silent,
    *,
    progress: bool = False,
    **more: Any,  # noqa: ANN401 - options, see below
) -> "Result":
    """Measure an encoder on a benchmark: `xmine eval`.

    Args:
        benchmark: a name that `xmine eval --help` lists, such as `tatoeba`.
        data: the folder with the files of the benchmark.
        encoder, report, progress: see `mine`.
        more: each option of the benchmark, such as `language`.
    """
    from xmine.evaluation.benchmarks import BENCHMARKS
    from xmine.evaluation.data import DataFolder

    with _speaking_python(), bar(report, wanted=progress) as told:
        if benchmark not in BENCHMARKS:
            raise OptionError(f"benchmark is {benchmark!r}", f"choose from {', '.join(BENCHMARKS)}")
        asked = BENCHMARKS[benchmark]
        chosen = _options(asked.options, None, more)
        _no_others(more, asked.options)
        return asked.load()(_loaded(encoder, chosen), DataFolder(Path(data)), chosen, told)


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
        self.path, self.pairs = path, list(read_pairs(str(path)))
        self.summary: dict[str, Any] = json.loads((path / SUMMARY_FILE).read_text("utf-8"))

    def __repr__(self) -> str:
        """Count the pairs."""
        return f"<Run {self.path}: {len(self):,} pairs>"

    def rows(self) -> Iterator[Pair]:
        """Walk through the pairs."""
        return iter(self.pairs)


def open_run(path: str | Path) -> Run:
    """Open the folder of a finished run.

    Raises:
        FileError: there is no finished run.
    """
    with _speaking_python():
        if not (Path(path) / RUN_FILE).is_file():
            raise FileError(f"{path}: no mining run there", f"it has no {RUN_FILE}")
        return Run(Path(path))


def _called(
    function: Callable[..., Made], more: dict[str, Any], kind: type[Options]
) -> Callable[..., Made]:
    """Give a function with the keywords that are its own; refuse others."""
    own = inspect.signature(function).parameters
    others = {name: value for name, value in more.items() if name not in own}
    _no_others(others, kind)
    return lambda *given: function(*given, **more)
