"""Numbers of English and Chinese texts: what they are read as, and which texts disagree."""

from random import Random

import pytest

from xmine.flags.numbers import numbers, numbers_differ, reader


def differ(source: str, target: str, languages: tuple[str, str] = ("en", "zh")) -> bool:
    return numbers_differ(source, target, reader(languages[0]), reader(languages[1]))


AGREE = [
    ("The last one leaves at a quarter to five.", "末班四点三刻开。"),
    ("We met at half past six, the three of us.", "我们三个六点半见的面。"),
    ("It opened in 1998.", "它于1998年开放。"),
    ("It opened in 1998.", "它于一九九八年开放。"),
    ("We sold 15,000 tickets.", "我们卖出了1.5万张票。"),
    ("We sold 15,000 tickets.", "我们卖出了15 000张票。"),
    ("We sold 15,000 tickets.", "我们卖出了１５，０００张票。"),
    ("The bridge cost 1.3 billion.", "这座桥耗资13亿。"),
    ("The bridge cost $1.3bn.", "這座橋耗資13億美元。"),
    ("The town has 120,000 people.", "全镇有十二万人。"),
    ("Some 2.5 trillion was spent.", "花费约2.5万亿。"),
    ("About 100 million people saw it.", "约有1亿人观看。"),
    ("It holds 120 million books.", "馆藏1亿2000万册。"),
    ("Between 3 and 5 million live here.", "这里住着300万至500万人。"),
    ("Two dozen eggs", "24个鸡蛋"),
    ("Half a million voters", "50万选民"),
    ("Two and a half million voters", "250万选民"),
    ("A million and a half voters", "150万选民"),
    ("A dozen and a half eggs", "18个鸡蛋"),
    ("Three hundred and two and a half thousand voters", "302500名选民"),
    ("A fifth of them left.", "20%的人离开了。"),
    ("Half of them left.", "50%的人离开了。"),
    ("A third of the harvest was lost.", "1/3的收成没了。"),
    ("Two-thirds of the harvest was lost.", "2/3的收成没了。"),
    ("Nearly 30% of pupils", "近百分之三十的学生"),
    ("Nearly 30 percent of pupils", "近三成学生"),
    ("It grew by 5 percentage points.", "增长了5个百分点。"),
    ("In the 1990s", "在20世纪90年代"),
    ("In the 1990s", "在1990年代"),
    ("In the 90s", "在1990年代"),
    ("In the nineties", "在90年代"),
    ("In the 18th century", "在18世纪"),
    ("In the eighteenth century", "在18世纪"),
    ("On January 15", "1月15日"),
    ("On Jan. 15", "一月15日"),
    ("On 3 September 2019", "二〇一九年9月3日"),
    ("The meeting starts at 3:30 p.m.", "会议15时30分开始。"),
    ("The meeting starts at 3 p.m.", "会议下午3点开始。"),
    ("The train leaves at 14:00.", "火车14时出发。"),
    ("Come at 15:00.", "下午3点来。"),
    ("It happened twice.", "发生了2次。"),
    ("The first of 12 chapters", "12章中的第1章"),
    ("She finished third of 8.", "她在8人中名列第三。"),
    ("The twenty-first session", "第21届会议"),
    ("Nineteen ninety-five was dry.", "1995年很干旱。"),
    ("The 20-year-old won.", "这名二十岁的选手赢了。"),
    ("Over two decades", "20多年来"),
    ("Wind of force 6 to 7", "六七级大风"),
    ("Some 4,000 to 5,000 years", "四五千年"),
    ("A 3 km path", "一条3千米的小路"),
    ("Chapter VII", "第7章"),
    ("in 2018-19", "2018年至2019年"),
    ("an area of 200 km2", "面积200平方公里"),
    ("COVID-19 closed 3 schools.", "新冠疫情使3所学校停课。"),
    ("4. The committee met.", "委员会召开了会议。"),
    ("The committee met.", "4. 委员会召开了会议。"),
    ("The committee met.12", "委员会召开了会议。"),
    ("One of them is like the others.", "其中一个和别的一样。"),
    ("The common people worried, in case.", "百姓担心，万一出事，千万小心，一些人走了。"),
    ("All of them came.", "一百二十人都来了。"),  # digits accuse alone, words do not
    ("Ten people came.", "人们来了。"),
    ("Hundreds of thousands fled.", "数十万人逃离。"),
    ("Two dozen boats came.", "二十多条船来了。"),
    ("On Wednesday a second boat left.", "周三，另一条船离开了。"),
    ("They came in two boats, or so we heard.", "他们来了，听说共有一对船。"),
    ("A very old boat with two sails", "十分古老的船，船帆不止一面"),
    ("The two sides signed the third of six treaties.", "双方签署了六项条约中的第三项。"),
    ("It rose from January to September.", "1至9月上升。"),
    ("Mr. May left on 3 June.", "梅先生6月3日离开。"),
    ("Jane met Mary on 3 June.", "珍妮6月3日见到玛丽。"),
    ("In June they met again.", "他们后来再次见面。"),
    ("No numbers here.", "这里没有数字。"),
    ("", ""),
]
DISAGREE = [
    ("A million and a half voters", "105万选民"),
    ("A fifth of them left.", "25%的人离开了。"),
    ("It opened in 1998.", "它于1989年开放。"),
    ("It opened in 1998.", "它于一九八九年开放。"),
    ("We sold 15,000 tickets.", "我们卖出了1.6万张票。"),
    ("The bridge cost 1.3 billion.", "这座桥耗资13万。"),
    ("The bridge cost 13 million.", "这座桥耗资13亿。"),
    ("Ten people came.", "来了12人。"),
    ("12 people came.", "来了十人。"),
    ("In the 1990s", "在20世纪80年代"),
    ("In the 1990s", "在19世纪90年代"),
    ("On January 15", "2月15日"),
    ("Nearly 30% of pupils", "近百分之四十的学生"),
    ("The 21st session", "第22届会议"),
    ("The meeting starts at 3:30 p.m.", "会议15时40分开始。"),
    ("Two dozen eggs", "25个鸡蛋"),
    ("We sold 15,000 of 20,000 tickets.", "20 000张票中，我们卖出了16 000张。"),
    ("4. The committee met.", "5. 委员会召开了会议。"),
    ("The committee has 14 members.", "委员会有一些成员。"),
    ("The A7 road", "A9公路"),
    ("Three boats sank.", "四条船沉了。"),
    ("The first boat of 9 sank.", "9条船中的第七条沉了。"),
    ("Fifty-two boats sank.", "五十三条船沉了。"),
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


def test_other_languages_are_compared_by_digits_on_both_sides() -> None:
    german = ("en", "de")
    assert not differ("It cost 1,500.75 in 2003.", "Es kostete 2003 1.500,75.", german)
    assert not differ("2.3 billion", "2,3 Milliarden", german)
    assert not differ("Twelve came in 2003.", "2003 kamen 12.", german)  # twelve is not read
    assert differ("14 came in 2003.", "2003 kamen 12.", german)
    assert differ("14 came.", "12 kamen.", ("und", "und"))


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1.5万", "zh", 15000),
        ("三亿五千万", "zh", 350_000_000),
        ("一千零一", "zh", 1001),
        ("两百", "zh", 200),
        ("十", "zh", 10),
        ("二〇一九", "zh", 2019),
        ("三点一四", "zh", 3.14),
        ("三分之一", "zh", 1 / 3),
        ("百分之五", "zh", 5),
        ("第三", "zh", 3),
        ("one hundred and five", "en", 105),
        ("twelve hundred", "en", 1200),
        ("three million four hundred thousand", "en", 3_400_000),
        ("a trillion", "en", 1e12),
        ("once", "en", 1),
        ("XIV", "en", 14),
        ("7.5%", "en", 0.075),
        ("0300", "en", 3),
        ("٣٤", "und", 34),
    ],
)
def test_a_number_is_read(text: str, language: str, value: float) -> None:
    found = {reading for number in numbers(text, language) for reading in number.readings}
    assert any(abs(reading - value) < 1e-9 * max(value, 1) for reading in found)


@pytest.mark.parametrize(
    ("text", "language", "counts"),
    [
        ("twelve", "en", True),
        ("nineteen ninety", "en", True),
        ("hundreds", "en", False),
        ("half", "en", False),
        ("10 thousand", "en", False),
        ("两条", "zh", True),
        ("十二", "zh", True),
        ("一", "zh", False),
        ("数十万", "zh", False),
        ("万一", "zh", False),
        ("半", "zh", False),
    ],
)
def test_some_number_words_count(text: str, language: str, counts: bool) -> None:
    assert any(number.counts for number in numbers(text, language)) is counts


def test_digits_are_told_from_words() -> None:
    found = {number.digits: number.readings for number in numbers("13 of twelve", "en")}
    assert found == {True: frozenset({13.0}), False: frozenset({12.0})}
    assert not any(number.digits for number in numbers("十二", "zh"))


def test_a_changed_number_is_noticed_and_the_same_one_is_not() -> None:
    random = Random(1)
    for _ in range(500):
        number, other = random.sample(range(32, 10**6), 2)
        grouped = f"{number:,}"
        assert not differ(f"They counted {grouped} birds.", f"他们数到{number}只鸟。")
        assert differ(f"They counted {grouped} birds.", f"他们数到{other}只鸟。")


@pytest.mark.parametrize("language", ["en", "zh", "und"])
def test_any_text_is_read_without_an_error(language: str) -> None:
    random = Random(1)
    parts = [
        *"0123456789,.: -%年月日点半十百千万亿兆零一二三多分之成折",
        "世纪90年代",
        "half",
        " and ",
    ]
    parts += [" million", " dozen", " a ", "nineties", " p.m.", "'", "st", "s", "/", "９", "٣", "²"]
    for _ in range(3000):
        numbers("".join(random.choices(parts, k=random.randint(0, 30))), language)
    numbers("9" * 500 + "万亿" * 300 + "亿" * 300, language)
