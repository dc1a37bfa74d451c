"""Two versions of a document -> beads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xmine
from xmine.aligning.aligned import Aligned
from xmine.aligning.band import matched
from xmine.browsing.details import figures_of
from xmine.browsing.opening import open_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.vectors import EncodedFiles, encode_sentences
from xmine.errors import OptionError
from xmine.text.segmentation import join
from xmine.text.sentences import Sentences

EXAMPLES = Path(__file__).parents[2] / "examples"
GERMAN = [
    "Der Zug hielt in einem kleinen Dorf, und wir stiegen aus.",
    "Es regnete.",
    "Niemand war auf dem Bahnsteig, nur ein alter Mann mit einem Hund wartete unter dem Dach.",
    "Ja.",
    "Am nächsten Morgen gingen wir früh los, weil der Weg lang war und der Wirt uns vor dem "
    "Gewitter gewarnt hatte.",
]
ENGLISH = [
    "The train stopped in a small village.",
    "We got off.",
    "It was raining.",
    "The platform was empty.",
    "Only an old man with a dog was waiting under the roof.",
    "Yes.",
    "The next morning we set out early.",
    "The way was long, and the innkeeper had warned us of the thunderstorm.",
]


def beads_of(aligned: Aligned) -> list[tuple[str | None, str | None]]:
    return [(bead.source_lines, bead.target_lines) for bead in aligned.beads()]


def document(random: np.random.Generator) -> tuple[list[str], list[str], list[tuple[str, str]]]:
    """Put lines of the examples together by chance, and leave some out: both texts, and beads."""
    english, german = ((EXAMPLES / f"{code}.txt").read_text().split("\n") for code in ("en", "de"))
    pairs = [line.split("\t") for line in (EXAMPLES / "gold-de.tsv").read_text().splitlines()]
    source, target, beads = list[str](), list[str](), list[tuple[str, str]]()
    at = 0
    while at < len(pairs):
        some = [
            (int(x) - 1, int(y) - 1) for x, y in pairs[at : at + random.choice([1, 1, 1, 2, 3])]
        ]
        at += len(some)
        ours, theirs = [english[x] for x, _ in some], [german[y] for _, y in some]
        kind = random.integers(12)
        if kind == 0:
            theirs = []
        elif len(some) > 1:
            ours, theirs = ([" ".join(ours)], theirs) if kind % 2 else (ours, [" ".join(theirs)])
        ranges = []
        for side, lines in ((source, ours), (target, theirs)):
            first, last = len(side) + 1, len(side) + len(lines)
            side += lines
            ranges.append(f"{first}" if first == last else f"{first}-{last}")
        if kind:
            beads.append((ranges[0], ranges[1]))
    return source, target, beads


def test_lines_that_are_merged_on_one_side_stand_together() -> None:
    aligned = xmine.align(GERMAN, ENGLISH)
    assert beads_of(aligned) == [("1", "1-2"), ("2", "3"), ("3", "4-5"), ("4", "6"), ("5", "7-8")]
    assert aligned.report().kinds == {"1-2": 3, "1-1": 2}
    first = next(aligned.rows())
    assert first.target == "The train stopped in a small village. We got off."
    assert beads_of(xmine.align(ENGLISH, GERMAN)) == [turned[::-1] for turned in beads_of(aligned)]


def test_beads_of_subtitles_have_their_times(tmp_path: Path) -> None:
    for name, lines in (("de", GERMAN), ("en", ENGLISH)):
        cues = [
            f"{n}\n00:00:{5 * n:02},000 --> 00:00:{5 * n + 1:02},000\n- {text}\n"
            for n, text in enumerate(lines, 1)
        ]
        (tmp_path / f"{name}.srt").write_text("\n".join(cues))
    aligned = xmine.align(tmp_path / "de.srt", tmp_path / "en.srt")
    aligned.save(tmp_path / "a.tsv")
    pair = next(row for row in aligned.rows() if row.target_lines == "4-5")
    assert pair.source_place == "00:00:15,000 --> 00:00:16,000"
    assert pair.target_place == "00:00:20,000 --> 00:00:26,000"
    opened = open_pairs(tmp_path / "a.tsv")
    said = figures_of(opened.pair([row.target_lines for row in aligned.rows()].index("4-5")))
    assert said[-1] == f"{pair.source_place} | {pair.target_place}"


def test_lines_put_together_by_chance_are_found() -> None:
    source, target, beads = document(np.random.default_rng(7))
    aligned = xmine.align(source, target)
    found, wanted = {bead for bead in beads_of(aligned) if all(bead)}, set(beads)
    assert len(found & wanted) >= 0.8 * max(len(found), len(wanted))
    report = aligned.report()
    assert report.precision == pytest.approx(len(found & wanted) / len(found), abs=0.1)
    assert not report.warnings


def test_beads_and_lines_alone_have_all_lines_once() -> None:
    source, target, _ = document(np.random.default_rng(8))
    for lines in ((source, target), (source[:40], target[:3]), (source[:1], target[:30])):
        beads = xmine.align(*lines).alignment.beads
        assert beads[0, [0, 2]].tolist() == [0, 0]
        assert beads[-1, [1, 3]].tolist() == list(map(len, lines))
        assert (beads[1:, [0, 2]] == beads[:-1, [1, 3]]).all()


def test_texts_that_are_no_versions_of_one_document_are_told() -> None:
    source, target, _ = document(np.random.default_rng(9))
    told = "these do not look like two versions of one document"
    for other in (target[::-1], [line[::-1] for line in target]):
        aligned = xmine.align(source, other)
        assert any(told in warning for warning in aligned.report().warnings)
        assert len(list(aligned.rows())) < 5
    english, german = ((EXAMPLES / f"{code}.txt").read_text().split("\n") for code in ("en", "de"))
    known = [line.split("\t") for line in (EXAMPLES / "gold-de.tsv").read_text().splitlines()]
    others = [x for at, x in enumerate(english, 1) if str(at) not in {pair[0] for pair in known}]
    for stretch in (german[15:45], german[:60], german[30:90]):  # which find a place in a long text
        for sides in ((stretch, others), (others, stretch)):
            aligned = xmine.align(*sides)
            assert any(told in warning for warning in aligned.report().warnings)
            assert not list(aligned.rows())
    same = xmine.align(source, source)
    assert {bead for bead in beads_of(same)} == {
        (str(n), str(n)) for n in range(1, len(source) + 1)
    }


@pytest.mark.parametrize(("start", "stop"), [(0, 0.5), (0.4, 0.6)])
def test_a_text_that_lacks_parts_keeps_its_other_beads(start: float, stop: float) -> None:
    """A half of the source is there, or a fifth: a gap has one price, however long."""
    source, target, _ = document(np.random.default_rng(12))
    first, last = int(start * len(source)), int(stop * len(source))
    part = xmine.align(source[first:last], target)
    found = {tuple(bead) for bead in matched(part.alignment.beads).tolist()}
    whole = matched(xmine.align(source, target).alignment.beads) - np.array([first, first, 0, 0])
    wanted = {tuple(bead) for bead in whole.tolist() if 0 <= bead[0] < bead[1] <= last - first}
    assert len(found & wanted) >= 0.8 * max(len(found), len(wanted))


def test_few_lines_tell_nothing_and_a_line_may_be_long() -> None:
    long = "the cat and the dog went to the house, " * 60000  # whose sums fit no half
    aligned = xmine.align([long, "The committee rejected it."], ["Die Katze schläft.", "Ja."])
    assert np.isfinite(aligned.probs).all() and len(aligned.alignment.beads)
    assert "too few lines to tell" in " ".join(aligned.report().warnings)


def test_a_language_without_vectors_is_aligned_by_lengths_and_lexicon() -> None:
    """Each word spelled in Greek letters, which the encoder does not know, and read backwards."""
    lines = (EXAMPLES / "en.txt").read_text().split("\n")[:300]
    greek = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβγδεζηθικλμνξοπρστυφχψωϊϋ")
    other = [
        " ".join(word[::-1] for word in line.lower().translate(greek).split()) for line in lines
    ]
    joined = [*other[:100], f"{other[100]} {other[101]}", *other[102:]]
    aligned = xmine.align(lines, joined)
    wanted = {(str(at), str(at)) for at in range(1, 101)} | {("101-102", "101")}
    wanted |= {(str(at + 1), str(at)) for at in range(102, 300)}
    assert len(wanted & set(beads_of(aligned))) >= 0.95 * len(wanted)
    assert aligned.alignment.weights[1] > aligned.alignment.weights[0]


def test_long_texts_are_walked_by_blocks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two lines give a band in which the same beads are found."""
    source, target, _ = document(np.random.default_rng(10))
    whole = xmine.align(source, target)
    monkeypatch.setattr("xmine.aligning.lines._CELLS", 100)
    monkeypatch.setattr("xmine.aligning.lines._BLOCKS", len(source) // 2)
    assert beads_of(xmine.align(source, target)) == beads_of(whole)


def test_a_transformer_reads_lines_put_together(
    checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vectors of joined lines are what beads are scored by, not sums of vectors."""
    read: list[str] = []

    def encoded(encoder: SentenceEncoder, table: Sentences, *more: Any, **how: Any) -> EncodedFiles:
        read.extend(table.texts)
        return encode_sentences(encoder, table, *more, **how)

    monkeypatch.setattr("xmine.aligning.pipeline.encode_sentences", encoded)
    aligned = xmine.align(GERMAN, ENGLISH, SentenceEncoder.load(checkpoint()))
    assert "It was raining. The platform was empty." in read
    assert len(read) == sum(range(1, 6)) + sum(range(2, 9))  # of 5 and 8 lines, up to 7 together
    assert {bead[1] for bead in beads_of(aligned)} - {""}


def test_a_precision_keeps_the_most_probable_beads() -> None:
    source, target, _ = document(np.random.default_rng(11))
    probs = np.sort([bead.prob or 0 for bead in xmine.align(source, target).rows()])[::-1]
    options = xmine.AligningOptions(precision=0.99)
    kept = [bead.prob or 0 for bead in xmine.align(source, target, options=options).rows()]
    assert np.mean(kept) >= 0.99 > np.mean(probs[: len(kept) + 1])
    options = xmine.AligningOptions(min_prob=float(probs[10]), all=True)
    aligned = xmine.align(source, target, options=options)
    assert len(aligned.report().kept) == (probs >= probs[10]).sum()
    assert len(list(aligned.rows())) == len(aligned.alignment.beads)
    with pytest.raises(OptionError, match="both choose where to cut"):
        xmine.AligningOptions(precision=0.9, min_prob=0.1)


def test_lines_are_joined_as_their_script_is_written() -> None:
    assert join(["One. ", " Two."]) == "One. Two."
    assert join(["我们走。", "好吧。"]) == "我们走。好吧。"
    assert join(["我们走。", "OK."]) == "我们走。 OK."
    assert join(["우리는 간다.", "좋아."]) == "우리는 간다. 좋아."
