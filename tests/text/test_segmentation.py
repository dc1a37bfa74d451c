"""Sentences of a line: where the cuts are, and that a sentence is a slice of its line."""

import time

import numpy as np
import pytest

from xmine.errors import XmineError
from xmine.text.segmentation import check_chapters, segment
from xmine.text.sentences import sentence_table

# A bar stands where a cut belongs; the white space around it belongs to no sentence.
ENGLISH = [
    "Dr. Ames left for the U.S. in Jan. 2020. | It was No. 5 on the list.",
    "It costs 3.14 dollars. | Prices fell by .5 percent, e.g. those of tea. | Why?! | No!!",
    "J. R. Holm wrote it. | She lived on St. Mary St. for years.",
    "Wait… what? | Yes... maybe. | We came at 5 p.m. | They left at 6 a.m. on Monday.",
    "See https://a.example/x.html?q=1&r=2. | Write to me@a.example. | Version 2.0.1 is out.",
    '"He left." | She stayed.',
    'He said "Go!" | Then he left. | “Stop.” | She ran.',
    "(See below.) | Then go on (and be quick!) to the end.",
    'They were right. " | But nobody knew.',
    "The word 你好 means hello. | It has two characters.",
    "No mark at the end",
    "One.   |   Two.\t|\tThree.",
]
CHINESE = [
    "他来了。 | 你好！ | 真的吗？ | 是",
    "什么？！ | 不会吧！！！ | 好。",
    "他喊道：“快跑！” | 大家都跑了。 | 「走吧。」 | 『好！』 | 天黑了。",
    "“你好！”她说。 | “再见。”他小声对她说，“走好。” | 门关了。",
    '他说："走吧!" | 她走了。 | "真的?" | 没有人答应。',
    "（见下文。） | 他（真的吗？）走了。 | 【注意！】 | 小心。",
    "《你好！》是一首歌。 | 他喜欢《走！走！》。",
    "圆周率是3.14。 | 他得了９．５分! | 版本2.0.1很好。",
    "一是快；二是好；三是省。 | 我……我不知道。 | ……真的吗？",
    "他来了. | 她走了. | 好",
    "（他走！走！） | 天黑了（真的？真的！）吗？ | 他（走了。 | 没有关。",
    "你用过 Python? | 我用过。 | 雅虎Yahoo!新闻",
    "“走！”，他说。 | 结束 。 ” | 后来呢？",
]
MIXED = [
    "Hello there. | How are you? | 你好。 | 再见！ | Bye. | See you.",
    "他在 OpenAI 工作。 | It is true that I did not go there. | 好吧。",
]
OTHERS = [
    ("de", "Er kam am 3. Oktober, z. B. mit dem Boot. | „Wirklich?“ | Ja, sagte Dr. Ames."),
    ("fr", "Elle est partie\u202f! | M. Ames a dit «\u00a0oui\u00a0». | Est-ce tout ?"),
    ("es", "¿Vino el Dr. Ames? | ¡Claro! | Se fue a las 3.15."),
    ("ru", "Лодка ушла в 1998 г. из порта. | Кто её видел? | Никто."),
    ("de", "1. Öffne den Deckel. | 2. Drücke den Knopf. | 3. Warte, wie Max. | Er wartet."),
    ("en", "a) Fill the pot. | b) Boil it! | c) She said no. | I agree."),
    ("es", "Vive en EE. UU. desde 1990. | Véase pág. 5."),
    ("ja", "船は出ました。 | だれが見た？ | だれも！"),
    ("ja", "「行こう。」と彼は言った。 | 「走れ！」 | 船は出た。"),
    ("ja", "ボートはもうない! | だれも見なかった. | また来る"),
]
ABBREVIATED = """\
ar|وصل د. سالم. | انظر ص. 12 من الكتاب. | قالت أ.د. ليلى: نعم.
cs|Viz obr. 4 v kap. 3. | Přišel Ing. Novák a MUDr. Malá. | Koupil mléko atd. | Odešel.
de|Siehe Abb. 3 und Nr. 7. | Am 24., vor dem Fest, kam Fr. Dr. Weiß. | „Nein!“, rief er.
de|»Das Haus ist alt. | Ich mag es.« | Er brachte Äpfel usw. | Dann ging er am 3. Mai.
en|1. Fill it. | 2. See vol. 3 and Fig. 2. | "Never!" he said. | Then -- who knew? -- it fell.
en|(a) Cups, etc. | They broke. | Prof. J. K. Lane left. | He stayed (why? No idea.) | So what?
es|El Dr. Ruiz vive en la Avda. Norte. | Véase la pág. 4 y el núm. 9. | «¡Vete!» dijo. | Sí.
fr|Mme. Roux et M. Blanc sont là. | Voir p. 3 et chap. IV. | Des poires, etc. | Puis il part.
hi|डॉ. मेहता और प्रो. राव आए। | पृ. 4 देखें। | वे गए।
id|Ia tinggal di Jl. Mawar No. 7. | Lihat hlm. 12. | Ada kursi, dll. | Lalu ia pergi.
it|Il sig. Neri e l'avv. Riva escono. | Vedi pag. 8 e n. 5. | «Basta!» gridò. | Mele ecc. | Sì.
ja|Dr. 田中が来た。 | 「待て！」と言った。 | 誰も待たなかった。
ko|Dr. 김이 왔다. | 1. 문을 연다. | 2. No. 3을 기다린다. | npm은 없다.
nl|Zie blz. 4 en nr. 7. | Dhr. Bos kwam a.h.w. laat. | Zo. | 's Avonds ging mevr. De Wit.
pl|Ur. w 1950 r. w Krakowie. | Zob. rys. 2 i tab. 5. | Mieszka na ul. Długiej. | Itd. itp.
pt|O Sr. Melo mora na Av. Central. | Ver pág. 9 e art. 5. | Peras etc. | Saiu a Dra. Reis.
ru|См. рис. 4 и стр. 7. | И. П. Белов ждал, т. е. молчал. | Яблоки и т. д. | Он ушёл.
tr|Bkz. Şek. 3 ve s. 12. | Av. Kaya geldi. | Elma, armut vb. | Sonra 5. kata çıktı.
uk|Див. табл. 2 і с. 7. | І. П. Білик живе на вул. Садовій. | Яблука тощо. | Пішов.
vi|Ông sống ở TP. Đà Nẵng. | Xem tr. 5. | GS. Minh và PGS. TS. Hà đến. | Có bàn, v.v. | Rồi đi.
"""
OTHERS += [(line[:2], line[3:]) for line in ABBREVIATED.splitlines()]


@pytest.mark.parametrize(("language", "marked"), OTHERS)
def test_languages_are_cut_by_their_own_rules(language: str, marked: str) -> None:
    sentences = [part.strip() for part in marked.split("|")]
    assert [text for _, text in segment(" ".join(sentences), language)] == sentences
    if language == "ja":
        assert [text for _, text in segment("".join(sentences), language)] == sentences


def test_a_language_whose_sentences_end_with_no_mark_is_told() -> None:
    with pytest.raises(XmineError, match="cannot cut text in th") as error:
        segment("เธอมา เขาไป", "th")
    assert error.value.hint.startswith("no mark ends its sentences")
    for code in "en zh de fr ru es ja ko pt it ar cs nl pl tr uk hi id vi sv el ur".split():
        assert segment("1", f"{code}-XX") == [(0, "1")]


@pytest.mark.parametrize("marked", ENGLISH + CHINESE + MIXED)
def test_cuts_are_where_the_bars_stand(marked: str) -> None:
    sentences = [part.strip() for part in marked.split("|")]
    for line in (" ".join(sentences), "  " + "   ".join(sentences) + "\t"):
        found = segment(line)
        assert [text for _, text in found] == sentences
        assert all(line[offset:][: len(text)] == text for offset, text in found)
    if marked in CHINESE and not any(char.isascii() and char.isalpha() for char in marked):
        assert [text for _, text in segment("".join(sentences))] == sentences


@pytest.mark.parametrize(
    "language", "ar cs de en es fr hi id it ja ko nl pl pt ru tr uk vi zh".split()
)
def test_no_sentence_begins_with_what_continues_one(language: str) -> None:
    random = np.random.default_rng(7)
    marks = [". ", ".” ", "! ", "? ", '!" ', "., ", ". – ", ".\u3000", "!) ", ".; ", "… "]
    words = ["Word", "word", "(a)", "1.", "No", "e.g", "etc", "«Word", "Ж", "ж"]
    for _ in range(200):
        parts = random.choice(words, 12), random.choice(marks, 12)
        text = "".join(map("".join, zip(*parts, strict=True))) + "Word."
        for _, piece in segment(text, language)[1:]:
            assert piece[0] not in ",;:)!?.%"
            assert language in "ar hi ja ko zh" or not piece[0].islower()


def test_a_line_that_holds_a_chapter_earns_the_hint() -> None:
    for chapter, few in (("He left at noon. " * 30, "He left."), ("天黑了。" * 30, "天黑了。")):
        (said,) = check_chapters("f", [chapter, few])
        assert said == "f: lines of up to 30 sentences; --segment cuts lines into sentences"
        assert check_chapters("f", [few] * 90) == check_chapters("f", [chapter, *[few] * 90]) == []


def test_a_line_break_inside_a_text_ends_a_sentence() -> None:
    found = segment("one\ntwo\r\nthree\u2028four\x0b")
    assert found == [(0, "one"), (4, "two"), (9, "three"), (15, "four")]


def test_what_has_no_letter_stays_with_the_sentence_before_it() -> None:
    assert segment("他来了。……") == [(0, "他来了。……")]
    assert segment(" . . ") == [(1, ". .")]
    assert segment("") == segment(" \t\u3000") == []


def test_any_text_is_covered_by_slices_in_order() -> None:
    """Random lines of marks, quotes, and odd characters."""
    random = np.random.default_rng(5)
    parts = list("。！？!?.…；“”\"'()（）《》 \t\u3000\u2028\x00a1我∯ȸ☉♬ᓴ&")
    parts += ["Dr. ", "U.S. ", "He ", "ab. C", "1. ", "http://a.b/?c"]
    for _ in range(300):
        line = "".join(random.choice(parts, size=int(random.integers(1, 80))).tolist())
        rest, at = "", 0
        for offset, text in segment(line):
            assert offset >= at and text and text == line[offset : offset + len(text)]
            assert text == text.strip()
            rest += line[at:offset]
            at = offset + len(text)
        assert not (rest + line[at:]).strip()


@pytest.mark.parametrize(
    "piece",
    ["The man went to Dr. Ames. ", "word ", "x", ".", '"', "Mr. ", "A. ", "1. ", '("a" ', "！”"],
)
def test_a_line_of_a_hundred_thousand_characters_does_not_hang(piece: str) -> None:
    line = (piece * 100_000)[:100_000]
    started = time.process_time()
    found = segment(line)
    assert time.process_time() - started < 5
    assert all(line[offset:][: len(text)] == text for offset, text in found)
    if piece in ("word ", "x", "."):
        assert len(found) == 1
    if piece.startswith("The man"):
        assert {text for _, text in found[:-1]} == {"The man went to Dr. Ames."}


def test_a_table_of_sentences_leads_back_to_its_lines() -> None:
    lines = ["Go on. Stop here.", "", "  他来了。她走了。", "Stop here.", "One more."]
    table = sentence_table("f", lines, segment=True)
    assert table.offsets is not None
    assert table.texts == ["Go on.", "Stop here.", "他来了。", "她走了。", "One more."]
    assert table.lines.tolist() == [1, 1, 3, 3, 5]
    assert table.offsets.tolist() == [0, 7, 2, 6, 0]
    assert (table.total, table.blank, table.repeated) == (5, 1, 1)
    some = table.take(np.array([3, 0]))
    assert some.offsets is not None and some.offsets.tolist() == [6, 0]
    assert sentence_table("f", lines).offsets is None
    assert len(sentence_table("f", lines, segment=True, dedup=False)) == 6


def test_a_table_is_cut_in_the_language_that_is_given_or_found() -> None:
    line = "Лодка ушла в 1998 г. Москва молчит."
    assert len(sentence_table("f", [line], segment=True, language="ru")) == 1
    assert len(sentence_table("f", [line], segment=True, language="en")) == 2
    japanese = ["船は出ました。", *["だれが見たのか、だれも知らない。"] * 1001]
    table = sentence_table("f", iter(japanese), segment=True, dedup=False)
    assert table.lines.tolist() == list(range(1, 1003))  # none is lost where the language is found
