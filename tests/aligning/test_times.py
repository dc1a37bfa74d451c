"""Subtitles are aligned by their times, too, after a shift and a scale that are fitted."""

from pathlib import Path
from random import Random

import pytest

import xmine
from xmine.files.reading import read_lines

ROWS = [row.split("\t") for row in read_lines(Path(__file__).parents[2] / "examples/languages.tsv")]
MADE_UP = str.maketrans("abcdefghijklmnopqrstuvwxyz", "αβγδεζηθικλμνξοπρστυφχψωϊϋ")
ALONE = [
    "[door creaks]",
    "♪ slow music ♪",
    "- (laughs)",
    "♪",
    "PARIS, 1920.",
    "Part two: the river.",
]


def texts(code: str, first: int, last: int) -> list[str]:
    """Read sentences of the examples; `xx` has no word that the encoder knows."""
    lines = [row[ROWS[0].index("en" if code == "xx" else code)] for row in ROWS[1:]][first:last]
    return (
        [each.lower().translate(MADE_UP).capitalize() for each in lines] if code == "xx" else lines
    )


def stamp(time: float) -> str:
    return f"{time // 3600:02.0f}:{time % 3600 // 60:02.0f}:{time % 60:06.3f}"


def write(
    folder: Path, sides: tuple[list[str], list[str]], scale: float, shift: float, seed: int = 1
) -> tuple[Path, Path]:
    """Write subtitles: one side has what is heard and shown, the other credits and turns."""
    random, cues = Random(seed), ([(0.0, 2.0, "")][:0], [(0.0, 1.0, "Subtitles: A. Smith")])
    time, turn = 5 + 30 * random.random(), ""
    for number, (ours, theirs) in enumerate(zip(*sides, strict=True), start=1):
        if random.random() < 0.18:
            cues[0].append((time, time + 1, random.choice(ALONE)))
            time += 1 + random.random()
        cues[0].append((time, time + 1.2 + len(ours) / 20, ours))
        begin, end = (scale * at + shift + random.gauss(0, 0.15) for at in cues[0][-1][:2])
        time = cues[0][-1][1] + random.expovariate(1 / 1.5)
        if not turn and random.random() < 0.2:
            continue  # nobody translated it
        if turn:
            cues[1][-1] = (cues[1][-1][0], end, f"- {turn}\n- {theirs}")
        else:
            cues[1].append((begin, end, theirs))
        turn = "" if turn or random.random() < 0.8 or number == len(sides[0]) else theirs
    folder.mkdir(exist_ok=True)
    for name, side in zip("ab", cues, strict=True):
        rows = [f"{stamp(a)} --> {stamp(b)}\n{text}\n\n" for a, b, text in side]
        (folder / f"{name}.srt").write_text("".join(rows))
    return folder / "a.srt", folder / "b.srt"


@pytest.mark.parametrize("code", ["de", "fr", "zh", "xx"])
@pytest.mark.parametrize("size", [40, 80])
@pytest.mark.parametrize(("scale", "shift"), [(1, 90), (25 / 23.976, 0), (23.976 / 25, 41)])
def test_all_that_is_said_is_paired(
    tmp_path: Path, code: str, size: int, scale: float, shift: float
) -> None:
    sides = texts("en", 0, size), texts(code, 0, size)
    paths = write(tmp_path, sides, scale, shift)
    found, translated = xmine.align(*paths), paths[1].read_text()
    wanted = {pair for pair in zip(*sides, strict=True) if pair[1] in translated}
    pairs = {(bead.source, bead.target.removeprefix("- ")) for bead in found.rows()}
    assert len(pairs & wanted) >= 0.94 * len(wanted) and len(pairs) <= 1.05 * len(wanted)
    assert (found.report().precision or 0) > 0.96
    timing = found.alignment.timing
    assert timing and timing.fits
    assert abs(timing.scale - scale) < 1e-3 and abs(timing.shift - shift) < 0.3
    assert not any(bead.source in ALONE and bead.target for bead in found.beads())
    assert "Subtitles" not in "".join(bead.target for bead in found.rows())


def test_times_that_do_not_go_together_are_not_used_and_that_is_told(tmp_path: Path) -> None:
    """Those of the same sentences are drawn anew; or a few of them say nothing."""
    sides = texts("en", 0, 80), texts("de", 0, 80)
    source, target = (write(tmp_path / f"{n}", sides, 1, 0, seed=n)[n - 1] for n in (1, 2))
    found = xmine.align(source, target)
    assert found.alignment.timing and not found.alignment.timing.fits
    assert "at no shift do the times" in " ".join(found.report().warnings)
    assert len({(each.source, each.target) for each in found.rows()} & {*zip(*sides, strict=True)})
    few = xmine.align(*write(tmp_path, (sides[0][:8], sides[1][:8]), 1, 0))
    assert few.alignment.timing is None
