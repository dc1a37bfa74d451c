"""Languages are told in tests/cli with real paragraphs; here the rules on small ones."""

import pytest

from xmine.text.languages import check_language, check_sides, guess_language, short_code

ENGLISH = ["The man who was here before had not seen any of these people, but he knew her."] * 5
GERMAN = ["Der Mann, der hier war, hatte keinen von diesen Leuten gesehen, doch er kannte sie."] * 5
INTERFACE = ["Delete selected files", "Open in new window", "Are you sure?", "Save as a copy"] * 9
CODE = ["React memo hook 组件", "useState 状态 API 文档"] * 50


def test_script_and_function_words_decide() -> None:
    languages = ("en", "zh")
    assert check_language("f", ENGLISH, languages) == ""
    assert "does not look like English" in check_language("f", GERMAN, languages)
    assert "--model" in check_language("f", GERMAN, languages)
    assert "Cyrillic" in check_language("f", ["Он знал её давно."], languages)
    assert check_language("f", ["他早就认识她了。"], languages) == ""
    assert check_language("f", INTERFACE, languages) == ""
    assert check_language("f", CODE, languages) == ""  # Chinese with many Latin words


def test_what_cannot_be_told_is_not_warned_about() -> None:
    assert check_language("f", GERMAN, ()) == ""  # nothing known of the encoder
    assert check_language("f", GERMAN, ("en", "xx")) == ""  # nor of the script of its language
    assert check_language("f", GERMAN, ("de", "zh")) == ""  # no list of words for German
    assert check_language("f", GERMAN[:1], ("en", "zh")) == ""  # too few words
    assert check_language("f", ["12:30 — 14:00"], ("en", "zh")) == ""
    assert "Cyrillic" in check_language("f", ["Он знал её давно."], ("de", "zh"))


@pytest.mark.parametrize(
    ("texts", "languages", "code"),
    [
        (ENGLISH, ("en", "zh"), "en"),
        (ENGLISH, (), "en"),
        (ENGLISH, ("de", "en", "zh"), "en"),
        (INTERFACE, ("en", "zh"), "en"),  # few words, and no other language has the script
        (["他早就认识她了。"], ("en", "zh"), "zh"),
        (["他早就认识她了。"], (), "zh"),
        (CODE, ("en", "zh"), "zh"),
        (["彼はもう彼女を知っていた。"], (), "ja"),
        (["彼はもう彼女を知っていた。"], ("en", "zh"), "und"),
        (["그는 이미 그녀를 알고 있었다."], (), "ko"),
        (["Αυτός την ήξερε."], (), "el"),
        (["Он знал её давно."], (), "und"),  # or Bulgarian, or Ukrainian
        (["Он знал её давно."], ("en", "ru"), "ru"),
        (["Он знал её давно."], ("en", "zh"), "und"),
        (GERMAN, ("en", "zh"), "und"),
        (GERMAN, ("de", "zh"), "de"),
        (GERMAN, (), "und"),
        (["12:30 — 14:00"], ("en", "zh"), "und"),
        ([], (), "und"),
        (ENGLISH, ("xx",), "und"),
    ],
)
def test_a_language_is_guessed_or_undetermined(
    texts: list[str], languages: tuple[str, ...], code: str
) -> None:
    assert guess_language(texts, languages) == code


@pytest.mark.parametrize(
    ("code", "short"),
    [("zh-CN", "zh"), ("zho_Hans", "zh"), ("cmn", "zh"), ("eng_Latn", "en"), ("ces_Latn", "ces")],
)
def test_a_code_is_shortened(code: str, short: str) -> None:
    assert short_code(code) == short


# Written for this test.
LETTER = """Yesterday evening we walked along the river and talked about what comes next.
The water was frozen already, but the ice was thin and nobody dared to step on it.
My sister told me that she will move to another town in spring, because of her work.
I promised to help with the boxes and to visit her as soon as she has settled in.""".split("\n")
LIST = ["Bank of Ireland", "The Tower of London", "Isle of Man", "House of the Dragon"] * 30
MANDARIN = [
    "这是我们昨天在河边看到的船，说是要去北方的城市。",
    "你们来的时候，他还没有学会写自己的名字。",
]
TRADITIONAL = [
    "這是我們昨天在河邊看到的船，說是要去北方的城市。",
    "你們來的時候，他還沒有學會寫自己的名字。",
]
CANTONESE = [
    "呢隻係我哋琴日喺河邊見到嘅船，話要去北面嘅城市。",
    "你哋嚟嗰陣，佢仲未學識寫自己個名。",
]
CYRILLIC = ["Вчера вечером мы долго гуляли по набережной и говорили о будущем."] * 3


def odd(left: list[str], right: list[str], *codes: str) -> list[str]:
    return check_sides(("a", "b"), (left, right), (codes[0], codes[1]) if codes else ("", ""))


def test_two_texts_of_one_language_and_one_text_twice_are_told() -> None:
    assert odd(LETTER, ENGLISH + INTERFACE) == ["a and b: both look like English"]
    chinese = [each * 3 for each in MANDARIN]
    assert odd(chinese, chinese[::-1]) == ["a and b: both look like Chinese"]
    for text in (LETTER, GERMAN, LIST[:2]):
        assert odd(text, list(text)) == [
            "a and b: the same text; translations need another language"
        ]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (LETTER, GERMAN),
        (LETTER, MANDARIN),
        (LIST, LIST[::-1]),  # names are in no language
        (["12:30", "1,024", "7 %"] * 50, ["9:15", "2,048"] * 50),
        (MANDARIN * 5, [each * 2 for each in TRADITIONAL] * 3),
        ([each * 2 for each in CANTONESE] * 3, TRADITIONAL * 5),
        (CANTONESE * 5, [each * 2 for each in CANTONESE] * 3),  # or Wu, or Hakka
        (GERMAN, [each.replace("Mann", "Wirt") for each in GERMAN]),  # or Dutch
        (CYRILLIC, [each.replace("долго", "много") for each in CYRILLIC]),  # or Bulgarian
        (LETTER, CODE),
        ([], []),
    ],
)
def test_languages_that_cannot_be_told_beyond_doubt_are_not(
    left: list[str], right: list[str]
) -> None:
    assert odd(left, right) == odd(right, left) == []


def test_languages_given_the_other_way_round_are_told() -> None:
    chinese = MANDARIN * 3
    turned = "--src-lang zh, --tgt-lang en: the other way round? a looks like en"
    assert odd(LETTER, chinese, "zh", "en") == [turned]
    assert odd(LETTER, chinese, "cmn", "eng_Latn")[0].endswith("a looks like eng_Latn")
    assert odd(GERMAN, LETTER, "en", "de")[0].endswith("a looks like de")
    assert odd(LETTER, chinese, "ru", "zh") == ["a: does not look like ru (--src-lang)"]
    assert odd(LETTER, chinese, "en", "ja") == ["b: does not look like ja (--tgt-lang)"]
    assert odd(LETTER, chinese, "ru", "ru") == [
        "a: does not look like ru (--src-lang)",
        "b: does not look like ru (--tgt-lang)",
    ]


@pytest.mark.parametrize(
    ("left", "right", "codes"),
    [
        (LETTER, MANDARIN * 3, ("en", "zh")),
        (LETTER, CANTONESE * 3, ("en", "yue")),
        (TRADITIONAL * 3, CANTONESE * 3, ("zh", "zh")),
        (LETTER, TRADITIONAL * 3, ("eng_Latn", "zho_Hant")),
        (LETTER, GERMAN, ("", "de")),
        (LETTER, GERMAN, ("sco", "de")),  # a language that nothing is known of
        (LIST, CODE, ("fr", "zh")),
        (CYRILLIC, LETTER, ("sr-Cyrl", "en")),
        (["Nihao"], ["Hello"], ("zh", "en")),  # too little to say so
    ],
)
def test_languages_that_are_right_or_may_be_are_not_doubted(
    left: list[str], right: list[str], codes: tuple[str, str]
) -> None:
    assert odd(left, right, *codes) == []
