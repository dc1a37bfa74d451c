"""Each flag has pairs that it must hit and pairs that it must not hit."""

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.flags.flag_set import Flags
from xmine.flags.hubness import is_hub
from xmine.flags.names import FLAGS
from xmine.flags.near_copies import beyond_latin, copied, latin_characters, letters_of, same_texts
from xmine.flags.reading import read_lines
from xmine.flags.rules import flag_pairs, odd_lengths, too_high
from xmine.flags.scripts import foreign_lines, foreign_to
from xmine.knn.neighbours import Neighbours
from xmine.scoring.retrieval import ChosenPairs
from xmine.text.languages import scripts_of
from xmine.text.sentences import Sentences, sentence_table

GOOD = [
    (
        f"The {animal} crossed the {place} at dawn and nobody saw it.",
        f"黎明时{a}穿过{p}，没有人看见。",
    )
    for animal, a in (("fox", "狐狸"), ("hare", "野兔"), ("heron", "苍鹭"), ("otter", "水獭"))
    for place, p in (("frozen river", "冰封的河"), ("harbour wall", "港口的墙"), ("field", "田野"))
] + [
    (f"She had {word} {thing} left in the drawer.", f"她抽屉里还剩{w}{t}。")
    for word, w in (("three", "三"), ("nine", "九"), ("forty", "四十"), ("two hundred", "两百"))
    for thing, t in (
        ("old keys", "把旧钥匙"),
        ("blank pages", "页白纸"),
        ("buttons", "颗纽扣"),
        ("unsent letters", "封没寄出的信"),
        ("coins", "枚硬币"),
    )
]


def neighbours_of(size: int, cosine: float = 0.8, other: float = 0.5) -> Neighbours:
    """Make neighbours in which row i is nearest to row i, and the next three to nothing special."""
    ids = (np.arange(size)[:, None] + np.arange(4)) % size
    cosines = np.tile(np.array([cosine, other, other, other], dtype=np.float32), (size, 1))
    return Neighbours(ids, cosines, ids, cosines)


def flags_by_rules(
    sources: list[str],
    targets: list[str],
    probs: NDArray[np.float64] | None = None,
    languages: tuple[str, str] = ("en", "zh"),
    scores: NDArray[np.float32] | None = None,
) -> list[set[str]]:
    """Flag the pairs of two lists; probabilities are 1 and scores fall where none are given."""
    rows, size = np.arange(len(sources)), len(sources)
    source, target = (
        Sentences(name, texts, rows + 1, size, 0, 0)
        for name, texts in (("a", sources), ("b", targets))
    )
    near = neighbours_of(size)
    scores = (2 - rows / max(size, 1)).astype(np.float32) if scores is None else scores
    chosen = ChosenPairs(rows, rows, scores, near.target_cosines[:, 0])
    read = read_lines((source, target), (rows, rows), languages)
    chances = np.ones(size) if probs is None else probs
    found = flag_pairs(chosen, chances, near, source, target, read)
    return [set(each.split(",")) - {""} for each in found]


def flags_of(
    pairs: list[tuple[str, str]], languages: tuple[str, str] = ("en", "zh")
) -> list[set[str]]:
    """Flag pairs that stand after thirty-two good ones."""
    sources, targets = map(list, zip(*GOOD, *pairs, strict=True))
    found = flags_by_rules(sources, targets, languages=languages)
    assert found[: len(GOOD)] == [set()] * len(GOOD)
    return found[len(GOOD) :]


@pytest.mark.parametrize(
    ("flag", "source", "target"),
    [
        ("copy", "Mind the gap between the boats.", "Mind  the gap between the boats."),
        ("copy", "请勿靠近船舷，谢谢。", "请勿靠近船舷，谢谢。"),
        ("near-copy", "Mind the gap between the boats.", "MIND THE GAP BETWEEN THE BOATS!"),
        ("near-copy", "Mind the 3 gaps between boats.", "Mind the 4 gaps between boats."),
        ("near-copy", "请勿靠近第3号船舷，谢谢合作。", "请勿靠近第4号船舷，谢谢。"),
        ("language", "The boats left before the tide turned.", "Лодки ушли до отлива, тихо."),
        ("language", "船在退潮前离开了。", "船在退潮前离开了港口。"),
        ("language", "The boats left.", "Die Boote sind vor der Ebbe still ausgelaufen."),
        ("language", "The boats left.", "ボートはしおがひくまえにでていきました。"),
        ("language", "Die Boote sind still aus dem Hafen ausgelaufen.", "船悄悄离开了港口。"),
        ("length", "The boats left the harbour before the tide turned that night.", "船走。"),
        ("placeholder", "Odo has {count} boats in {place}.", "Odo在{place}有船。"),
        ("length", "Gone.", "那天夜里，船在退潮之前悄悄地离开了港口，谁也没有听见，谁也没有看见。"),
        ("number", "The boat took 14 people aboard.", "船上载了15人。"),
        ("duplicate", "SHE HAD NINE COINS LEFT IN THE DRAWER", "抽屉里她有九枚硬币。"),
    ],
)
def test_a_fault_is_found(flag: str, source: str, target: str) -> None:
    (found,) = flags_of([(source, target)])
    assert flag in found


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (
            "Martha Vole met Odo Finch in Ely to buy an old boat.",
            "Martha Vole 在 Ely 见到了 Odo Finch，想买一条旧船。",
        ),
        ("The port runs SwiftDock 2.1 on Linux.", "港口在Linux上运行SwiftDock 2.1。"),
        ("The word 船 means boat.", "船这个字的意思是boat。"),
        ("Yes.", "是的。"),
        ("The letter α stands for the angle.", "字母α代表角度。"),
    ],
)
def test_good_pairs_are_left_alone(source: str, target: str) -> None:
    (found,) = flags_of([(source, target)])
    assert not found


def test_a_name_alone_is_in_the_script_of_any_language() -> None:
    (found,) = flags_of([("Martha Vole and Sons", "Martha Vole and Sons")])
    assert found == {"copy"}


def test_flags_stand_in_their_order_and_without_spaces() -> None:
    text = "Лодки ушли до отлива, 14 лодок."
    raised = Flags.of({name: np.array([name in ("language", "copy")]) for name in FLAGS})
    assert list(raised) == ["copy,language"] and flags_by_rules([text], [text]) == [
        {*raised[0].split(",")}
    ]
    names = (
        "hub,copy,near-copy,language,length,partial,number,negation,high,duplicate,markup,garbled"
    )
    assert ",".join(FLAGS) == f"{names},placeholder"


def test_no_pairs_have_no_flags() -> None:
    none = np.zeros(0, dtype=np.int64)
    nothing = ChosenPairs(none, none, none.astype(np.float32), none.astype(np.float32))
    both = sentence_table("a", ["Yes."]), sentence_table("b", ["是。"])
    read = read_lines(both, (none, none), ("en", "zh"))
    assert list(flag_pairs(nothing, np.zeros(0), neighbours_of(1), *both, read)) == []


def test_without_a_language_the_main_script_of_a_side_is_its_own() -> None:
    found = flags_of([("The boats left.", "Лодки ушли до отлива, тихо.")], ("und", "und"))
    assert "language" in found[0]
    assert (
        "language" not in flags_of([("The boats left.", "船在退潮前离开了。")], ("und", "und"))[0]
    )


@pytest.mark.parametrize(
    ("language", "line", "foreign"),
    [
        ("ru", "The boats left before the tide turned that night.", True),
        ("sr_Latn", "Čamci su otišli pre oseke.", False),
        ("sr_Latn", "Чамци су отишли пре осеке.", True),
        ("de", "Die Boote sind still ausgelaufen, und niemand hat sie gehen sehen.", False),
        ("en", "Lima, Oslo, Quito, Riga, Sofia, Tirana, Vaduz, Vilnius", False),
        ("en", "Les bateaux sont partis avant la marée, sans un bruit.", True),
        ("en", "Čluny odpluly před odlivem a nikdo je neviděl odjíždět.", True),
        ("en", "Fray Bartolomé de las Casas", False),
        ("en", "Genuinely liberal councils guard against careless harbour masters.", False),
        ("en", "12:30 — 14:00", False),
        ("zh", "The boats left before the tide turned.", True),
        ("zh", "The Society of Friends of the Old Harbour Wall", False),
        ("zh", "He died in Ely on Tuesday.", True),
        ("zh", "THE BOATS LEFT BEFORE THE TIDE TURNED", True),
        ("zh", "有人问：no boats leave before dawn 是什么意思", False),
        ("zh", "俄语里船的单数叫лодка，复数另有说法。", False),
        ("en", "THE BOATS LEFT BEFORE THE TIDE TURNED", False),
        ("en", "DIE BOOTE SIND VOR DER EBBE STILL AUSGELAUFEN", True),
        ("de", "The boats left before the tide turned, and they were not seen.", True),
        ("pt", "They were out for all of it.", True),
        ("de", "Was wir hier sehen, will man so auch in Ely haben.", False),
        ("nl", "Was hij over de dijk gegaan, dan had hij Odo gezien.", False),
        ("und", "The boats left before the tide turned.", False),
        ("tr", "Işık sönünce İstanbul'dan ayrıldık.", False),
        ("ja", "船在退潮前悄悄地离开了港口。", True),
        ("ja", "東京港湾管理局", False),
        ("ja", "ﾎﾞｰﾄは潮が引く前に静かに出て行きました。", False),
        ("ja", "보트는 썰물 전에 떠났다.", True),
        ("ko", "보트는 썰물 전에 떠났다.", False),
        ("ko", "船在退潮前离开了。", True),
        ("hi", "फ़ाइल को SwiftDock 2.1 में Save As से सहेजें।", False),
        ("uk", "Човни вийшли до відпливу, і їх не бачили.", False),
        ("uk", "Лодки ушли до отлива, и никто их не видел.", True),
        ("ar", "قایق‌ها پیش از جزر رفتند و کسی آن‌ها را ندید.", True),
        ("de", "De boten zijn vertrokken voordat het eb werd.", True),
        ("de", "Royal Harbour Boatmen Ely Inc.", False),
        ("pt_BR", "Los barcos salieron antes de que bajara la marea.", True),
        ("id", "Bot-bot itu telah berlepas sebelum air surut.", False),
    ],
)
def test_language_of_a_line(language: str, line: str, foreign: bool) -> None:
    are_foreign = foreign_lines(language, scripts_of(language, [line]))
    assert are_foreign([line], [letters_of(line)]) == [foreign]


def test_a_side_without_letters_has_no_script() -> None:
    assert foreign_to("und", scripts_of("und", ["1", "2"]))("Любое", "любое") is False


def test_letters_are_compared_whatever_form_they_have() -> None:
    assert letters_of("Café, 12!") == letters_of("CAFE\u0301") == "café"
    assert letters_of("ＡＢＣ船") == "abc船"
    assert letters_of("12:30") == letters_of("") == ""
    assert copied("12:30", "14:00") == ""  # two times are no translation of each other
    assert copied("12:30", "12:30") == "copy"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("İSTANBUL IŞIK", "istanbul ışık"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),  # jamo
        ("カタカナ", "ｶﾀｶﾅ"),
        ("قوارب", "قَوَارِب"),
        ("« Oui » !", "«\u202fOui\u202f»\u202f!"),
    ],
)
def test_letters_do_not_depend_on_how_they_are_written(one: str, other: str) -> None:
    assert letters_of(one) == letters_of(other)


@pytest.mark.parametrize(("one", "other"), [("कल", "काल"), ("ดี", "ดู"), ("দিন", "দান")])
def test_vowels_of_indian_and_thai_words_are_letters(one: str, other: str) -> None:
    assert letters_of(one) != letters_of(other)
    assert letters_of(f"१. {one}।") == letters_of(one)


def test_vietnamese_is_written_in_latin_letters() -> None:
    assert not beyond_latin(letters_of("Những con thuyền đã rời bến."))
    assert latin_characters("thuyền rời bến, 船") == 16
    one, other = "Odo Finch ở Việt Nam, 2019", "Odo Finch ở Việt Nam, 2021 (Ely)"
    assert copied(one, other) == "near-copy"
    english = "Odo Finch o Viet Nam, Ely, 2021"
    assert copied(one, english, same_script=False)


def test_different_sentences_are_no_copies_of_each_other() -> None:
    one, other = "The boats left before the tide.", "The boats came back at the high tide."
    assert copied(one, other) == ""
    one, other = "The boats left before the tide.", "Nobody can fish in this weather."
    assert copied(one, other, same_script=False) == ""
    one, other = "Old Harbour Museum of Ely, by Finch", "Finch的Old Harbour Museum of Ely"
    assert copied(one, other) == ""  # names are all it is


def test_a_copy_may_be_less_near_where_translations_are_in_another_script() -> None:
    pair = "Rules for small boats", "Rules for harbour boats"
    assert flags_of([pair])[0] >= {"near-copy"}
    assert copied(*pair) == ""
    assert copied(*pair, same_script=False) == "near-copy"


def test_a_near_copy_of_some_words_is_told_to_be_in_one_language() -> None:
    sources = ["Our teachcr speaks four languages.", "Mara Vole Hotel", "Hotel el Zorro para todos"]
    targets = ["Our teacher speaks four languages.", "Mara Volo Hotel", "Hotel o Zorro para todos"]
    sides, rows = (
        (sentence_table("a", sources), sentence_table("b", targets)),
        (np.arange(3), np.arange(3)),
    )
    for codes, told in ((("en", "de"), [True, False]), (("es", "pt"), [True, False, False])):
        _, near, foreign = read_lines(sides, rows, codes).untranslated
        assert near.all() and foreign.tolist()[: len(told)] == told


def test_lines_without_letters_are_duplicates_if_they_are_the_same() -> None:
    found = flags_of([("12:30", "12点半"), ("14:00", "14点整"), ("12:30", "12点")])
    assert ["duplicate" in each for each in found] == [False, False, True]


@pytest.mark.parametrize(("probs", "flagged"), [((0.5, 0.5), 1), ((0.4, 0.9), 0), ((0.9, 0.4), 1)])
def test_of_two_pairs_with_one_text_the_less_probable_is_the_duplicate(
    probs: tuple[float, float], flagged: int
) -> None:
    scores = np.array([1.5, 1.4], dtype=np.float32)  # which decide among equally probable ones
    english, chinese = ["The kettle whistles.", "the kettle whistles"], ["水开了。", "壶响。"]
    found = flags_by_rules(english, chinese, np.array(probs), scores=scores)
    assert ["duplicate" in names for names in found] == [flagged == 0, flagged == 1]


def test_only_sure_pairs_that_are_no_copies_tell_how_long_translations_are() -> None:
    cut = ("The boats left the harbour before the tide turned that night.", "船走了。")
    copies = [(f"{number} boats left." * 3,) * 2 for number in range(99)]
    assert "length" in flags_of([cut, *copies])[0]
    sources, targets = map(list, zip(*GOOD, *[cut] * 60, strict=True))
    for chance, flagged in ((0.8, True), (0.95, False)):
        probs = np.where(np.arange(92) < len(GOOD), 1, chance)
        assert ("length" in flags_by_rules(sources, targets, probs)[-1]) is flagged


def odd(
    sources: list[str], targets: list[str], sure: NDArray[np.bool_], languages: tuple[str, str]
) -> NDArray[np.bool_]:
    """Count the characters, all and those of ASCII."""
    counted = [
        np.array([[len(text), sum(map(str.isascii, text))] for text in texts], dtype=np.int32)
        for texts in (sources, targets)
    ]
    (ours, our_ascii), (theirs, their_ascii) = counted[0].T, counted[1].T
    return odd_lengths((ours, theirs), (our_ascii, their_ascii), sure, languages)


def test_lengths_need_confident_pairs_or_a_prior() -> None:
    sources, targets = ["x" * 60] * 10, ["y" * 60] * 5 + ["y" * 10] * 5
    few = np.zeros(10, dtype=bool)
    assert not odd(sources, targets, few, ("und", "und")).any()
    english = ["x" * 100] * 2
    chinese = ["船" * 28, "船" * 5]
    assert odd(english, chinese, few[:2], ("en", "zh-CN")).tolist() == [False, True]
    assert odd(chinese, english, few[:2], ("zho_Hans", "eng")).tolist() == [False, True]
    many = np.ones(40, dtype=bool)
    found = odd(["x" * 60] * 40, ["y" * 60] * 39 + ["y" * 10], many, ("und", "und"))
    assert found.tolist() == [False] * 39 + [True]


def test_short_lines_may_differ_more_in_length() -> None:
    many = np.ones(42, dtype=bool)
    sources = ["x" * 100] * 40 + ["x" * 6, "x" * 120]
    targets = ["y" * 100] * 40 + ["y" * 11, "y" * 220]
    assert odd(sources, targets, many, ("und", "und")).tolist() == [False] * 41 + [True]


def test_a_high_ratio_of_a_low_cosine_is_too_high() -> None:
    rng = np.random.default_rng(1)
    size = 60
    near = neighbours_of(size)
    near.target_cosines[:, 0] = near.source_cosines[:, 0] = rng.normal(0.8, 0.03, size)
    far = [57, 58, 59]
    for cosines in (near.target_cosines, near.source_cosines):
        cosines[far] = [0.4, 0.15, 0.15, 0.15]  # ratio 1.9 where others have 1.4
        cosines[56] = [0.4, 0.38, 0.38, 0.38]  # neither high nor good
    rows = np.arange(size)
    cosines = near.target_cosines[:, 0]
    scores = cosines / near.target_cosines.mean(axis=1)
    chosen = ChosenPairs(rows, rows, scores, cosines)
    sure = rows < 56
    assert np.flatnonzero(too_high(chosen, sure, near)).tolist() == far
    assert not too_high(chosen, rows < 20, near).any()  # too few to know
    assert not too_high(chosen, sure, near.first(1)).any()


def random_lists(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    rng = np.random.default_rng(1)
    return np.stack([rng.permutation(columns)[:4] for _ in range(1000)])


def test_a_hub_is_neighbour_to_very_many_lines() -> None:
    ids = random_lists(np.arange(1000))
    assert not is_hub(ids, 1000).any()
    ids[:200, 0], ids[200:500, 1] = 7, 3
    assert np.flatnonzero(is_hub(ids, 1000)).tolist() == [3, 7]


def test_where_many_lines_are_neighbours_often_a_hub_is_so_five_times_as_often() -> None:
    ids = random_lists(np.arange(1000))
    ids[:, 0] = np.arange(1000) % 120 + 880  # an eighth is neighbour to eight more lines
    ids[ids == 7] = 8
    ids[:41, 1] = 7
    assert not is_hub(ids, 1000).any()
    ids[:90, 1] = 7
    assert np.flatnonzero(is_hub(ids, 1000)).tolist() == [7]


def test_small_files_have_no_hubs() -> None:
    ids = np.zeros((24, 1), dtype=np.int64)  # one line is nearest to all of them
    assert not is_hub(ids, 300).any()
    assert np.flatnonzero(is_hub(np.zeros((25, 1), dtype=np.int64), 300)).tolist() == [0]


@pytest.mark.parametrize(
    ("source", "target", "same"),
    [
        ("She had three keys.", "  She had\u00a0three keys.\t", True),
        ("Turn to page 9!", "Turn to page 9！", True),
        ("\uff24ecember", "December", True),
        ("e\u0301cole", "école", True),
        ("x² is 4", "x2 is 4", True),
        ("She had three keys.", "She had Three keys.", False),
        ("She had three keys.", "She had three keys", False),
        ("ice cream", "icecream", False),
        ("straße", "strasse", False),
    ],
)
def test_what_is_known_to_be_wrong_is_what_has_the_flag_copy(
    source: str, target: str, same: bool
) -> None:
    assert same_texts([source, target], [target, source]).tolist() == [same, same]
    for pair in ((source, target), (target, source)):
        flag = copied(*pair)
        assert (flag == "copy") == same
        assert flag in ("copy", "near-copy")


def test_the_words_of_tags_are_no_words() -> None:
    is_foreign = foreign_to("en", {"LATIN"})
    line = '<div class="notice"><em>New:</em> dark mode follows your system settings.</div>'
    assert not is_foreign(line, letters_of(line))
    line = '<div class="hinweis">Das ist der neue Modus, und er folgt den Einstellungen.</div>'
    assert is_foreign(line, letters_of(line))
