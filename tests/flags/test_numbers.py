"""Numbers of texts: what they are read as, and which texts disagree."""

from random import Random

import pytest

from xmine.flags.numbers import differing, places, reader
from xmine.flags.numbers.number import Number, plain


def numbers(text: str, language: str = "und") -> list[Number]:
    """Read the numbers of one text."""
    read = reader(language)
    text = read.adapted(plain(text))
    return read.digits(text) + read.words(text)


def differ(source: str, target: str, languages: tuple[str, str] = ("en", "zh")) -> bool:
    return differing(source, target, *map(reader, languages)) is not None


AGREE = [
    ("The last one leaves at a quarter to five.", "末班四点三刻开。"),
    ("We met at half past six, the three of us.", "我们三个六点半见的面。"),
    ("It opened in 1998.", "它于1998年开放。"),
    ("We sold 15,000 tickets.", "我们卖出了1.5万张票。"),
    ("The bridge cost 1.3 billion.", "这座桥耗资13亿。"),
    ("The town has 120,000 people.", "全镇有十二万人。"),
    ("Some 2.5 trillion was spent.", "花费约2.5万亿。"),
    ("About 100 million people saw it.", "约有1亿人观看。"),
    ("Two dozen eggs", "24个鸡蛋"),
    ("Half a million voters", "50万选民"),
    ("A million and a half voters", "150万选民"),
    ("Three hundred and two and a half thousand voters", "302500名选民"),
    ("A fifth of them left.", "20%的人离开了。"),
    ("A third of the harvest was lost.", "1/3的收成没了。"),
    ("Nearly 30% of pupils", "近百分之三十的学生"),
    ("In the nineties", "在90年代"),
    ("On January 15", "1月15日"),
    ("On 3 September 2019", "二〇一九年9月3日"),
    ("The meeting starts at 3:30 p.m.", "会议15时30分开始。"),
    ("The train leaves at 14:00.", "火车14时出发。"),
    ("The first of 12 chapters", "12章中的第1章"),
    ("She finished third of 8.", "她在8人中名列第三。"),
    ("Nineteen ninety-five was dry.", "1995年很干旱。"),
    ("The 20-year-old won.", "这名二十岁的选手赢了。"),
    ("Over two decades", "20多年来"),
    ("Wind of force 6 to 7", "六七级大风"),
    ("Some 4,000 to 5,000 years", "四五千年"),
    ("A 3 km path", "一条3千米的小路"),
    ("in 2018-19", "2018年至2019年"),
    ("an area of 200 km2", "面积200平方公里"),
    ("COVID-19 closed 3 schools.", "新冠疫情使3所学校停课。"),
    ("4. The committee met.", "委员会召开了会议。"),
    ("The committee met.", "4. 委员会召开了会议。"),
    ("The committee met.12", "委员会召开了会议。"),
    ("One of them is like the others.", "其中一个和别的一样。"),
    ("The common people worried, in case.", "百姓担心，万一出事，千万小心，一些人走了。"),
    ("All of them came.", "一百二十人都来了。"),  # digits accuse alone, words do not
    ("Hundreds of thousands fled.", "数十万人逃离。"),
    ("Two dozen boats came.", "二十多条船来了。"),
    ("On Wednesday a second boat left.", "周三，另一条船离开了。"),
    ("The two sides signed the third of six treaties.", "双方签署了六项条约中的第三项。"),
    ("It rose from January to September.", "1至9月上升。"),
    ("Its 13 moons rise in the 30th.", "13月的卫星在30月升起。"),
    ("Mr. May left on 3 June.", "梅先生6月3日离开。"),
    ("", ""),
]
DISAGREE = [
    ("A million and a half voters", "105万选民"),
    ("A fifth of them left.", "25%的人离开了。"),
    ("It opened in 1998.", "它于一九八九年开放。"),
    ("We sold 15,000 tickets.", "我们卖出了1.6万张票。"),
    ("The bridge cost 1.3 billion.", "这座桥耗资13万。"),
    ("In the 1990s", "在20世纪80年代"),
    ("On January 15", "2月15日"),
    ("The 21st session", "第22届会议"),
    ("The meeting starts at 3:30 p.m.", "会议15时40分开始。"),
    ("Two dozen eggs", "25个鸡蛋"),
    ("We sold 15,000 of 20,000 tickets.", "20 000张票中，我们卖出了16 000张。"),
    ("4. The committee met.", "5. 委员会召开了会议。"),
    ("The committee has 14 members.", "委员会有一些成员。"),
    ("The A7 road", "A9公路"),
    ("Three boats sank.", "四条船沉了。"),
    ("It began on 5 March.", "5月5日开始。"),
    ("The boats left in Sept. and in June.", "船是九月和七月离开的。"),
]


@pytest.mark.parametrize(("english", "chinese"), AGREE)
def test_these_agree_in_both_orders(english: str, chinese: str) -> None:
    assert not differ(english, chinese)
    assert not differ(chinese, english, ("zh-CN", "eng_Latn"))


@pytest.mark.parametrize(("english", "chinese"), DISAGREE)
def test_these_disagree_in_both_orders(english: str, chinese: str) -> None:
    assert differ(english, chinese)
    assert differ(chinese, english, ("zho_Hans", "en"))


# English, another language, its code.
AGREE_ELSEWHERE = [
    ("It cost 1,500.75 in 2003.", "Es kostete 2003 1.500,75.", "de"),
    ("It cost 1,500.75.", "Cela a coûté 1\u202f500,75.", "fr"),
    ("It cost 1,500.", "Стоило 1 500.", "ru"),
    ("Some 1,234,567 boats", "करीब १२,३४,५६७ नावें", "hi"),
    ("The 41 boats of 2019", "القوارب ٤١ لعام ٢٠١٩", "ar"),
    ("It rose by 2.5% to 1,300.", "ارتفع \u200f٢٫٥٪ إلى ١٬٣٠٠.", "ar"),
    ("38,000 boats", "38 тысяч лодок", "ru"),
    ("7 crore rupees", "7 करोड़ रुपये", "hi"),
    ("He paid 2.75 million.", "Он заплатил 2 млн 750 тыс.", "ru"),
    ("4,300 boats", "4 bin 300 tekne", "tr"),
    ("300,000-400,000 boats", "300-400 тысяч лодок", "ru"),
    ("It opens at 7 p.m.", "Открытие в 19:00.", "ru"),
    ("It opens at 7.15 p.m.", "Ouverture à 19 h 15.", "fr"),
    ("It closes at 8.30am.", "Zamknięcie o 8:30.", "pl"),
    ("The boats of the 1980s", "lodě 80. let", "cs"),
    ("The class of 2015-16", "ročník 2015-2016", "cs"),
    ("It left on 20 December 2012.", "Salió el 20.12.2012.", "es"),
    ("A third of 30", "1/3 von 30", "de"),
    ("Three hundred thousand boats", "dreihunderttausend Boote", "de"),
    ("In the 1980s", "negli anni Ottanta", "it"),
    ("It cost 13,200 yen.", "1万3200円した。", "ja"),
    ("Three boats of 12", "１２隻のうち三隻", "ja"),
    ("Twelve boats", "十二隻", "ja"),
    ("30% of the boats", "船の3割", "ja"),
    ("A third of 30 boats", "30隻の3分の1", "ja"),
    ("It opens at 3 p.m.", "午後3時に開く。", "ja"),
    ("1.5 kilometres", "１・５キロ", "ja"),
    ("35,000 boats", "배 3만 5천 척", "ko"),
    ("120 million boats", "배 1억 2000만 척", "ko"),
    ("It opens at 3 p.m. on 9 May.", "5월 9일 오후 3시에 연다.", "ko"),
    ("As fast as boat 3", "배 3만큼 빠르다", "ko"),
    ("Boats of .5 m", "Boote von 0,5 m", "de"),
    ("Read Ruth 3:4-9.", "Lies Rut 3,4-9.", "de"),
    ("1.2 million boats", "120 万艘船", "zh"),
    ("30,000 crore rupees", "30 हजार करोड़ रुपये", "hi"),
    ("On 7 August 2019", "le 07.08.2019", "fr"),
    ("Article 2 of 4", "4개 중 제2조", "ko"),
]
# A number in digits on one side alone; the other side may have a word for it.
ONE_SIDED = [
    ("It opens at 6.30.", "Otwarcie o 6:30.", "pl"),
    ("COVID-19 stopped the boats.", "Die 3 Boote lagen still.", "de"),
    ("an hour and 2 minutes", "1時間2分", "ja"),
    ("Three boats", "배 세 척", "ko"),
    ("You are 5 men.", "Tu sei un uomo.", "it"),
    ("the last 16", "los octavos de final", "es"),
    ("2 boats came.", "ボートがふたつ来た。", "ja"),
    ("A boat of 3 came.", "2 von 3 Booten kamen.", "de"),
]
DIFFER_ELSEWHERE = [
    ("14 came in 2003.", "2003 kamen 12.", "de"),
    ("The boats of the 1980s", "lodě 70. let", "cs"),
    ("The 41 boats", "القوارب ٤٢", "ar"),
    ("It cost 13,200 yen.", "1万4200円した。", "ja"),
    ("35,000 boats", "배 3만 6천 척", "ko"),
    ("It opens at 2:30.", "Öffnet um 15.40 Uhr.", "de"),
    ("Fifteen singers", "cincuenta cantantes", "es"),
    ("He was 79.", "Il avait quatre-vingt-dix-sept ans.", "fr"),
    ("It opens on 5 March.", "5月3日に開く。", "ja"),
    ("It left on 20 November 2012.", "Salió el 20.11.2013.", "es"),
    ("The A7 road", "die A9", "de"),
    ("13 boats, 5 days", "1만 3천 척, 5일", "ko"),
    ("It rose by 0.35 m.", "Es stieg um 0,53 m.", "de"),
    ("Read Ruth 3:4.", "Lies Rut 3,5.", "de"),
    ("100 billion euros", "100 Millionen Euro", "de"),
    ("30 million boats", "30 mil millones de barcos", "es"),
    ("On August 7, 2019, at noon", "am 07.09.2019", "de"),
]


@pytest.mark.parametrize(("english", "other", "code"), AGREE_ELSEWHERE)
def test_digits_of_every_language_agree(english: str, other: str, code: str) -> None:
    assert not differ(english, other, ("en", code))
    assert not differ(other, english, (code, "en"))
    found = differing(f"{english} (77777)", f"{other} (88888)", reader("en"), reader(code))
    assert found is not None and [len(side) for side in found] == [1, 1]  # and all others agree


@pytest.mark.parametrize(("english", "other", "code"), ONE_SIDED)
def test_digits_on_one_side_alone_accuse_no_language_whose_words_are_not_read(
    english: str, other: str, code: str
) -> None:
    assert not differ(english, other, ("en", code))
    assert not differ(other, english, (code, "en"))


@pytest.mark.parametrize(("english", "other", "code"), DIFFER_ELSEWHERE)
def test_digits_of_every_language_differ(english: str, other: str, code: str) -> None:
    assert differ(english, other, ("en", code))
    assert differ(other, english, (code, "en"))


def test_two_languages_whose_words_are_not_read_are_compared() -> None:
    assert differ("14 came.", "12 kamen.", ("und", "und"))
    assert differ("2970.12", "2907.12", ("und", "und"))
    assert differ("9.45", "9.54", ("und", "und"))
    assert not differ("14.30", "2:30", ("und", "und"))
    assert not differ("14.00", "2", ("und", "und"))
    assert differ("12 Boote", "120 лодок", ("de", "ru"))
    assert not differ("12 Tausend Boote", "12 тысяч лодок", ("de", "ru"))
    assert not differ("12.000 Boote", "12 тысяч лодок", ("de", "ru"))
    assert not differ("1.234,5 Boote", "1 234,5 лодки", ("de", "ru"))
    assert differ("1.234,5 Boote", "1 235,5 лодки", ("de", "ru"))
    assert not differ("3万人", "3만 명", ("ja", "ko"))
    assert not differ("三万人", "30 тысяч человек", ("zh", "ru"))


@pytest.mark.parametrize("language", ["en", "zh", "ja", "ko", "und"])
def test_any_text_is_read_without_an_error(language: str) -> None:
    random = Random(1)
    parts = [
        *"0123456789,.: -%年月日点半十百千万亿兆零一二三多分之成折・'/９٣²s",
        "世纪90年代",
        "만 5천",
    ]
    parts += [" млн ", "half", " and ", " million", " dozen", " a ", "nineties", " p.m.", "st"]
    for _ in range(3000):
        numbers("".join(random.choices(parts, k=random.randint(0, 30))), language)
    numbers("9" * 500 + "万亿" * 300 + "亿" * 300, language)


def test_the_code_of_an_entity_is_no_number() -> None:
    readers = reader("en"), reader("zh")
    assert differing("It&#39;s &quot;late&quot;&#44; he said", "他说晚了", *readers) is None
    assert differing("It&#39;s 5 &#55;", "5 8", *readers) is not None
    assert not list(places("It&#39;s late"))
    assert [each[:2] for each in places("It&#39;s 12 o&#39;clock")] == [(9, 11)]
