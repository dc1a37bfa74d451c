"""Near-copies of a pair's own sentence are no rivals; and figures that nobody can know."""

import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import xmine
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.vectors import Encoded
from xmine.flags.near_copies import letters_of
from xmine.knn.exact import search_exact
from xmine.mining.kin import Kin, _letters_agree
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions, ScoringOptions
from xmine.text.sentences import sentence_table

EXAMPLES = Path(__file__).parents[2] / "examples"


def aligned(language: str, gold: str) -> list[tuple[str, str]]:
    english, other = (
        (EXAMPLES / f"{each}.txt").read_text(encoding="utf-8").splitlines()
        for each in ("en", language)
    )
    rows = (EXAMPLES / gold).read_text(encoding="utf-8").splitlines()
    numbers = [tuple(map(int, row.split("\t")[:2])) for row in rows]
    return [(english[x - 1], other[y - 1]) for x, y in numbers if len(english[x - 1]) > 25]


CHINESE, GERMAN = aligned("zh", "gold.tsv"), aligned("de", "gold-de.tsv")

COPIES: dict[str, Callable[[str], str]] = {
    "mark": lambda text: text.rstrip("。.") + "！！",
    "list number": lambda text: f"(7) {text}",
    "quotes": lambda text: f"“{text}”",
    "end": lambda text: text[:-2] + "……",
    "half": lambda text: text[: max(len(text) // 2, 4)],
}


def right_sources(targets: list[tuple[str, int]], rerank: str) -> tuple[int, Mined]:
    """Mine 80 sentences and texts, numbered by their sentence; count the right pairs."""
    texts = [text for text, _ in targets]
    mined = xmine.mine(SOURCES, texts, options=MiningOptions(rerank=rerank))
    lines = [(pair.source_line or 0, pair.target_line or 0) for pair in mined.pairs.rows()]
    return sum(targets[target - 1][1] == source - 1 for source, target in lines), mined


SOURCES = [source for source, _ in CHINESE[20:100]]
TARGETS = [(text, row) for row, (_, text) in enumerate(CHINESE[20:100])]


@pytest.mark.parametrize(
    ("copies", "rerank", "share"),
    [
        *(("mark", "auto", 1.0), ("list number", "off", 1.0), ("quotes", "auto", 0.5)),
        *(("end", "off", 0.5), ("half", "auto", 1.0)),
    ],
)
def test_near_copies_take_no_pair_away(copies: str, rerank: str, share: float) -> None:
    """As many sentences as without near-copies keep their translation, or its near-copy."""
    once, _ = right_sources(TARGETS, rerank)
    assert once >= 65
    targets = TARGETS + [(COPIES[copies](text), row) for text, row in TARGETS[: round(share * 80)]]
    random.Random(1).shuffle(targets)
    right, mined = right_sources(targets, rerank)
    assert right >= once - 2
    assert "no pair stands out" not in str(mined.report())


@pytest.mark.parametrize(("marks", "rerank"), [("。！？…", "off"), ("。！？…·~+", "auto")])
def test_many_near_copies_on_both_sides_hide_no_pair(marks: str, rerank: str) -> None:
    """Each of 40 sentences stands in both files with four marks, or seven; 30 have no near-copy."""
    sources, targets = ([pair[side] for pair in CHINESE[20:90]] for side in (0, 1))
    copied = [
        [f"{text.rstrip('.。')}{mark}" for text in side[:40] for mark in marks]
        for side in (sources, targets)
    ]
    options = MiningOptions(rerank=rerank)
    alone = xmine.mine(sources, targets, options=options)
    mined = xmine.mine(copied[0] + sources[40:], copied[1] + targets[40:], options=options)
    lines = [
        ((pair.source_line or 1) - 1, (pair.target_line or 1) - 1) for pair in mined.pairs.rows()
    ]
    found = {x // len(marks) for x, y in lines if x // len(marks) == y // len(marks) < 40}
    once = sum((pair.source_line or 99) <= 40 for pair in alone.pairs.rows())
    assert len(found) >= once - 2 and len(lines) >= 0.7 * 40 * len(marks)


TWO_EACH = [
    ("Nobody has paid for the tea.", "Niemand hat den Tee bezahlt."),
    ("Nobody has paid for the tea.", "Den Tee hat noch keiner bezahlt."),
    ("The museum is closed on Mondays.", "Das Museum ist montags geschlossen."),
    ("The museum is closed on Mondays.", "Montags hat das Museum zu."),
    ("My brother works in a bakery.", "Mein Bruder arbeitet in einer Bäckerei."),
    ("My brother works in a bakery.", "In einer Bäckerei arbeitet mein Bruder."),
    ("We will meet in front of the station.", "Wir treffen uns vor dem Bahnhof."),
    ("We will meet in front of the station.", "Vor dem Bahnhof werden wir uns treffen."),
    ("She keeps bees behind the library.", "Sie hält Bienen hinter der Bücherei."),
    ("She keeps bees behind the library.", "Hinter der Bibliothek hält sie Bienen."),
]


@pytest.mark.parametrize(("rerank", "turned"), [("auto", True), ("off", False)])
def test_two_translations_of_a_sentence_are_both_right(rerank: str, turned: bool) -> None:
    pairs = TWO_EACH + GERMAN[:76]
    sides = [source for source, _ in pairs], [text for _, text in pairs]
    options = ScoringOptions(rerank=rerank)
    rows = list(xmine.score(*(sides[::-1] if turned else sides), options=options).rows())
    probs = [row.prob or 0 for row in rows[: len(TWO_EACH)]]
    assert min(probs) >= 0.5, probs


def test_a_wrong_partner_stays_wrong_beside_the_right_one() -> None:
    """Partners of one sentence are no rivals, but all other lines are."""
    pairs = GERMAN[:76]
    wrong = [(pairs[row][0], pairs[row + 40][1]) for row in range(10)]
    sides = [each for each, _ in pairs + wrong], [each for _, each in pairs + wrong]
    probs = [row.prob or 0 for row in xmine.score(*sides).rows()]
    assert max(probs[len(pairs) :]) < 0.1 and np.mean(probs[: len(pairs)]) > 0.9


def tables(*sides: list[str], encoder: SentenceEncoder) -> tuple[Encoded, Encoded]:
    left, right = (
        (sentence_table("", texts, dedup=False), encoder.encode_half(texts)) for texts in sides
    )
    return left, right


def slow_kin(text: str, rival: str, own: float, between: float, farthest: float) -> bool:
    """The rules as docs/explanation/sure.md has them."""
    one, other = letters_of(text), letters_of(rival)
    ours, theirs = ({first + second for first, second in pairwise(each)} for each in (one, other))
    numbers = sorted((re.findall(r"\d+", text), re.findall(r"\d+", rival)), key=len)
    starts = numbers[1][: len(numbers[0])] == numbers[0]
    ends = numbers[1][len(numbers[1]) - len(numbers[0]) :] == numbers[0]
    near = between < 0.6 * own or between < 0.5 * farthest or one == other
    fewer = min(len(ours), len(theirs))
    alike = one == other or 0 < 0.85 * fewer <= len(ours & theirs)
    return near and (starts or ends) and alike


def test_kin_is_the_twins() -> None:
    texts = [text for _, text in GERMAN[:30]]
    copies = [f"{number}. {text}" for number, text in enumerate(texts[:10])]
    copies += [f"Preis {number} Euro" for number in (7, 17, 7000)]
    copies += [text[: len(text) // 2] for text in texts[10:20]]
    sides = [source for source, _ in GERMAN[:30]], texts + copies
    (_, left), (_, right) = encoded = tables(*sides, encoder=SentenceEncoder.load())
    near = search_exact(left, right, 4)
    x = np.repeat(np.arange(30), 4)
    y = near.targets.ravel()
    cosines = left.astype(np.float64) @ right.astype(np.float64).T
    among = right.astype(np.float64) @ right.astype(np.float64).T
    found, _ = Kin.of(encoded)(x, y, near)
    for pair in range(len(x)):
        own, rivals = int(y[pair]), near.targets[x[pair]].tolist()
        others = [rival for rival in rivals if rival != own]
        farthest = max(1 - among[own, rival] for rival in others)
        for place, rival in enumerate(rivals):
            wanted = rival != own and slow_kin(
                sides[1][own],
                sides[1][rival],
                1 - cosines[x[pair], own],
                1 - among[own, rival],
                farthest,
            )
            assert found[pair, place] == wanted, (sides[1][own], sides[1][rival])
    assert 20 < found.sum() < 200


def test_words_of_one_letter_are_strangers() -> None:
    texts = list("水火山石田土木月日人"), [f"{word}." for word in "水火山石田土木月日人"]
    encoded = tables(*texts, encoder=SentenceEncoder.load())
    near = search_exact(encoded[0][1], encoded[1][1], 4)
    rows = np.arange(10)
    of_row, of_column = Kin.of(encoded)(rows, rows, near)
    assert not of_row.any() and not of_column.any()
    # Nor do these have pairs of letters in common, though neither has any that the other lacks.
    assert not _letters_agree("土", "地") and _letters_agree("solid ground", "ground, solid ground")


def test_no_more_translations_than_lines() -> None:
    """Addresses that differ in one number, beside translations, are counted as often as lines."""
    rows = range(100)
    sources = [f"https://example.org/en/page{row}" for row in rows] + [s for s, _ in CHINESE[:60]]
    targets = [f"https://example.org/zh/page{row}" for row in rows] + [t for _, t in CHINESE[:60]]
    translations = xmine.mine(sources, targets).threshold.translations
    assert translations is not None and translations <= 160


def test_ten_rows_tell_which_are_right_and_six_are_too_few() -> None:
    """Two are right, or none where the gold pairs have other lines."""
    for first in range(0, 100, 10):
        pairs = CHINESE[first : first + 2]
        pairs += [(CHINESE[row][0], CHINESE[row + 40][1]) for row in range(first + 2, first + 10)]
        sides = [source for source, _ in pairs], [target for _, target in pairs]
        right = [(row.prob or 0) > 0.9 for row in xmine.score(*sides).rows()]
        assert right == [first not in (10, 30)] * 2 + [False] * 8
        few = xmine.score(sides[0][:6], sides[1][:6])
        assert {row.prob for row in few.rows()} == {None} and "too few lines" in str(few.report())


CATALAN = """On és la farmàcia més propera?
Ella llegeix el diari cada matí abans d'anar a la feina.
Aquest any no ens podem permetre comprar una casa nova.
Els nens van jugar al jardí tota la tarda.
He tornat a oblidar les claus sobre la taula de la cuina.
Va ploure tant que van tancar la carretera.
Em pots ajudar a portar aquestes capses?
Viu a Girona des que era petit.
La botiga obre a les deu els diumenges.
Van travessar tot el país amb tren per visitar la seva àvia.
La pel·lícula era tan avorrida que em vaig adormir.
Hem de parlar amb el veí del sostre que goteja.""".splitlines()


def test_figures_of_a_language_that_the_encoder_does_not_know_are_not_given() -> None:
    english = [source for source, _ in CHINESE[:60]]
    mined = xmine.mine(english, CATALAN * 5)
    facts, said = mined.report().facts(), str(mined.report())
    figures = ("precision", "precision_interval", "translations")
    assert [facts[name] for name in figures] == [None] * 3 and facts["other_cuts"] == []
    assert "expected precision" not in said and "translations in the files" not in said
    assert "nobody can know" in said and "`xmine mine --model e5`" in said
    assert "--seed-pairs" not in said
    scored = xmine.score(english, CATALAN * 5).report()
    assert scored.expected_right is None and "nobody can know" in str(scored)


def test_text_of_no_known_language_keeps_its_figures(toy_encoder: SentenceEncoder) -> None:
    """That a text looks like no language is no certain sign of a wrong encoder."""
    english, chinese, _ = toy_sentences(60, seed=11)
    assert xmine.mine(english, chinese, toy_encoder).kept.precision is not None
