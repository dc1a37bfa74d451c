"""What a look has seen -> pairs by keys, by order, or within documents, where these bear it out."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

from xmine.aligning.aligned import Aligned
from xmine.aligning.looking import Seen
from xmine.aligning.options import AligningOptions
from xmine.aligning.pipeline import align
from xmine.display import count
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair
from xmine.errors import OptionError
from xmine.mining.aligned import score_aligned
from xmine.mining.aligned_scores import AlignedScores
from xmine.mining.documents import DocumentPair, pairs_in
from xmine.mining.mined import Mined, MiningReport
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.mining.phrases import Figure
from xmine.pairs.pair import Languages, Pair
from xmine.pairs.rows import PairRows
from xmine.progress import Report, silent
from xmine.scoring.threshold import LIKELY
from xmine.text.inputs import ManyFiles, TextInput
from xmine.text.keys import shared_keys
from xmine.text.languages import UNKNOWN_LANGUAGE

# The expected share of right ones: of translated texts by keys, and of lines of the shorter side in
# beads.
_RIGHT, _IN_BEADS = 0.5, 0.5
# Of the mined pairs, the share in documents that are versions of one text; and the expected beads
# of such documents for each pair that was mined there: a bead may have several lines.
_WITHIN, _WORTH = 0.5, 0.8

Inputs = tuple[TextInput, TextInput]
_Kind = TypeVar("_Kind", AligningOptions, ScoringOptions)
Result = Mined | Aligned | AlignedScores


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Versions(PairRows):
    """What two folders of documents gave.

    Attributes:
        mined: the pairs of all lines.
        documents: pairs of documents that are versions of one text, and were aligned.
        beads: of these documents, with their files.
        paths: of both inputs, which name the file of mined pairs where that is one.
    """

    mined: Mined
    documents: Sequence[DocumentPair]
    beads: Sequence[Pair]
    paths: tuple[str, str]

    def rows(self) -> Iterator[Pair]:
        """Walk through the beads, and then through the mined pairs of other documents."""
        yield from self.beads
        aligned = {pair[1:3] for pair in self.documents}
        for pair in _with_files(self.mined, self.paths):
            if (pair.source_file, pair.target_file) not in aligned:
                lines = str(pair.source_line), str(pair.target_line)
                yield pair._replace(source_lines=lines[0], target_lines=lines[1])

    def report(self) -> "VersionsReport":
        """Report what was aligned, and what was mined elsewhere."""
        return VersionsReport(self.mined, self)


@dataclass(frozen=True, eq=False, repr=False)
class VersionsReport(MiningReport):
    """The figures of `versions`; those of mining follow."""

    versions: Versions

    def head(self) -> list[str]:
        """Count the beads, the documents, and the pairs elsewhere."""
        beads, documents = len(self.versions.beads), len(self.versions.documents)
        return [
            f"{count(beads, 'bead')} of {count(documents, 'pair')} of documents",
            f"{count(len(self.versions) - beads, 'pair')} elsewhere",
        ]

    def figures(self) -> Iterator[Figure]:
        """Give the figures of the beads, then those of mining all lines."""
        probs = [bead.prob or 0.0 for bead in self.versions.beads]
        precision = sum(probs) / len(probs)
        said = f"expected precision of the beads {precision:.2f}, of those that are exactly right"
        yield Figure("beads", len(probs))
        yield Figure("precision_of_beads", precision, said)
        yield Figure("documents", len(self.versions.documents))
        mined = super().head()[0]
        yield Figure("", None, f"before documents were aligned: {mined}")
        for figure in super().figures():
            is_advice = figure.name == "rising"  # to align
            yield figure._replace(said="") if is_advice else figure


def pair_as_seen(
    seen: Seen,
    inputs: Inputs,
    encoder: SentenceEncoder | EncoderPair | None,
    options: MiningOptions,
    mine: Callable[[], Mined],
    report: Report = silent,
    *,
    run: Path | None = None,
    force: bool = False,
    asked: bool = False,
) -> Result | Versions:
    """Pair the texts of two inputs in the form that was seen; or mine them, where that is better.

    Args:
        seen: the form.
        inputs, encoder, options: as of mining.
        mine: mines the lines; called where that is needed.
        report: called while aligning.
        run: a folder that keeps beads whatever their result, see `align`.
        force: replace what is in it.
        asked: the user wants that form, whatever its result.

    Raises:
        OptionError: keys are asked for, and there are none.
    """
    if seen.form == "lines" or encoder is None:
        return mine()
    if seen.form == "keys":
        scored = by_keys(inputs, encoder, options, report)
        right = scored.report().expected_right
        translated = len(scored.chosen) - int(scored.copies.sum())
        bears_out = translated and (right is None or right >= _RIGHT * translated)
        return scored if asked or bears_out else mine()
    aligning = _as(AligningOptions, options)
    aligning = replace(aligning, drop=[*aligning.drop, "copy"])  # as mining leaves out copies
    if not asked and aligning.precision is aligning.min_prob is None:
        aligning = replace(aligning, min_prob=LIKELY)  # as --threshold auto leaves out the others
    if seen.form == "documents":
        mined = mine()
        return _versions(mined, inputs, as_pair(encoder), aligning, asked=asked) or mined
    aligned = align(*inputs, encoder, aligning, report, run=run, force=force)
    right, lines = float(aligned.probs.sum()), min(len(aligned.source), len(aligned.target))
    if asked or run is not None or right >= _IN_BEADS * lines:
        return aligned
    if aligned.unknown:
        return mine() if aligned.is_unclear else aligned
    mined = mine()
    precision = mined.kept.precision
    return aligned if precision is not None and right >= precision * len(mined) else mined


def by_keys(
    inputs: Inputs,
    encoder: SentenceEncoder | EncoderPair,
    options: MiningOptions | AligningOptions,
    report: Report = silent,
) -> AlignedScores:
    """Pair the texts of two inputs by their keys, see `shared_keys`; and score the pairs."""
    rows = shared_keys(inputs)
    if not rows:
        names = " and ".join(each.name for each in inputs)
        hint = "give two languages of one catalogue, or tables with a column id or key"
        raise OptionError(f"--as keys: {names} share too few keys", hint)
    texts = [list(each.texts()) for each in inputs]
    pairs = [
        Pair(
            texts[0][at],
            texts[1][there],
            source_line=at + 1,
            target_line=there + 1,
            source_place=key,
            target_place=key,
        )
        for key, (at, there) in rows.items()
        if texts[0][at].strip() and texts[1][there].strip()
    ]
    return score_aligned(*inputs, encoder, _as(ScoringOptions, options), report, pairs=pairs)


def _versions(
    mined: Mined,
    inputs: Inputs,
    encoder: EncoderPair,
    options: AligningOptions,
    *,
    asked: bool,
) -> Versions | None:
    """Align documents that are versions of one text; None where the mined pairs stand elsewhere."""
    found = mined.candidates
    source, target = found.source.with_documents(inputs[0]), found.target.with_documents(inputs[1])
    told = replace(mined, candidates=replace(found, source=source, target=target))
    pairs = [pair for pair in pairs_in(told, encoder) if pair.prob >= LIKELY]
    likely = {pair[1:3] for pair in pairs}
    paths = inputs[0].path, inputs[1].path
    number_in = Counter((each.source_file, each.target_file) for each in _with_files(mined, paths))
    within = sum(number for files, number in number_in.items() if files in likely)
    if not asked and within < _WITHIN * max(1, number_in.total()):
        return None
    documents, beads = list[DocumentPair](), list[Pair]()
    for pair, some in beads_in(pairs, inputs, encoder, mined.languages, options):
        if sum(bead.prob or 0.0 for bead in some) >= _WORTH * number_in[pair.source, pair.target]:
            documents.append(pair)
            beads += some
    return Versions(mined, documents, beads, paths) if beads else None


def _with_files(mined: Mined, paths: tuple[str, str]) -> Iterator[Pair]:
    """Walk through mined pairs, all with their files."""
    for pair in mined.rows():
        ours, theirs = pair.source_file or paths[0], pair.target_file or paths[1]
        yield pair._replace(source_file=ours, target_file=theirs)


def beads_in(
    pairs: Sequence[DocumentPair],
    inputs: Inputs,
    encoder: EncoderPair,
    languages: Languages,
    options: AligningOptions,
) -> Iterator[tuple[DocumentPair, list[Pair]]]:
    """Align the documents of each pair; those that are no versions of one text have no beads."""
    files, others = (
        {part.path: part for part in (each.parts if isinstance(each, ManyFiles) else (each,))}
        for each in inputs
    )
    codes = [code.replace(UNKNOWN_LANGUAGE, "") for code in languages]
    options = replace(options, src_lang=codes[0], tgt_lang=codes[1])
    for pair in pairs:
        one, other = files[pair.source], others[pair.target]
        # Names alone may pair documents without text.
        if not all(any(map(str.strip, each.texts())) for each in (one, other)):
            continue
        aligned = align(one, other, encoder, options)
        beads = [] if aligned.is_unclear else list(aligned.rows())
        yield (
            pair,
            [
                bead._replace(
                    prob=round((bead.prob or 0.0) * pair.prob, 4),  # of documents that are none
                    source_file=one.path,
                    target_file=other.path,
                )
                for bead in beads
            ],
        )


def _as(kind: type[_Kind], options: MiningOptions | AligningOptions) -> _Kind:
    """Take over the options that another kind has as well."""
    return kind(
        **{
            each.name: getattr(options, each.name)
            for each in fields(kind)
            if hasattr(options, each.name)
        }
    )
