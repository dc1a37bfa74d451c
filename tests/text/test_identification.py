"""Languages are told by scripts, English words and py3langid; here on letters in 50 languages."""

import platform
import re
import subprocess
import sys
import tomllib
import unicodedata
from itertools import combinations
from pathlib import Path

import pytest

from tests.toys.compatibility import BLOCKS, in_forms
from tests.toys.nineteen import LINES, NINETEEN, OTHERS
from xmine.text import languages
from xmine.text.identification import (
    check_both,
    check_language,
    check_sides,
    check_spelling,
    guess_language,
    looks_foreign,
    sure_language,
    tell_apart,
)
from xmine.text.languages import count_scripts, language_name, scripts_of, who_knows

CODES = tuple(NINETEEN)
TWICE = {name: lines * 2 for name, lines in LINES.items()}  # enough letters to be sure of
ENGLISH = ["The man who was here before had not seen any of these people, but he knew her."] * 5
GERMAN = ["Der Mann, der hier war, hatte keinen von diesen Leuten gesehen, doch er kannte sie."] * 5
CATALAN = ["Ahir al vespre vam caminar vora el riu i vam parlar del que vindrà després."] * 5
INTERFACE = ["Delete selected files", "Open in new window", "Are you sure?", "Save as a copy"] * 9
CODE = ["React memo hook 组件", "useState 状态 API 文档"] * 50
TIBETAN = ["ཁྱེད་རང་ག་པར་ཕེབས་ཀ"] * 9


@pytest.mark.parametrize("code", CODES)
def test_each_of_the_nineteen_is_told_with_and_without_an_encoder(code: str) -> None:
    lines = LINES[code]
    assert guess_language(lines, CODES) == guess_language(lines, ("en", "zh")) == code
    assert sure_language(TWICE[code]) == code
    assert check_language("f", TWICE[code], CODES) == ""
    for line in lines:
        assert tell_apart(line, CODES) == code
    foreign = {other for other in CODES if looks_foreign(TWICE[code], other)}
    assert foreign == set(CODES) - {code}


@pytest.mark.parametrize("code", LINES)
def test_each_of_the_fifty_is_named_and_told_among_all(code: str) -> None:
    lines = LINES[code]
    assert guess_language(lines, tuple(LINES)) == guess_language(lines) == code
    assert guess_language([line.upper() for line in lines], tuple(LINES)) == code
    assert check_language("f", lines * 2, tuple(LINES)) == ""
    main = count_scripts(lines).most_common(1)[0][0]
    assert main in scripts_of(code, lines)
    assert language_name(code).lower() != code


@pytest.fixture(params=[True, False], ids=["installed", "not installed"])
def after(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have all extras or none, on a machine that all of them run on; give what is added then."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(languages, "is_installed", lambda _: request.param)
    return "" if request.param else r", after `.*install.*xmine\[{}\].*`"


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_that_the_encoder_does_not_know_is_named(code: str) -> None:
    said = check_language("f.txt", TWICE[code], CODES)
    unknown = f"f.txt looks like {language_name(code)}, which the encoder does not know; --model "
    assert said.startswith(unknown) and said.endswith(who_knows((code,)))
    assert guess_language(LINES[code], CODES) not in ("und", *CODES)
    assert check_language("f.txt", TWICE[code], (*CODES, code)) == ""


def test_the_smallest_encoder_that_knows_languages_is_named(
    after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For every language of every encoder, with English and with Greek; e5 is for one platform."""
    table = tomllib.loads(Path(languages.__file__).with_name("encoders.toml").read_text("utf-8"))
    sizes = {name: facts["languages"].split() for name, facts in table.items()}
    assert list(sizes) == ["embedded", "e5", "sentence-transformers/LaBSE"]
    for machine in ("x86_64", "arm64"):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        for code in {code for some in sizes.values() for code in some}:
            for beside in ("", "und", "en", "el"):
                wanted = {code, beside} - {"", "und"}
                fitting = [
                    (name, facts.get("extra", ""))
                    for name, facts in table.items()
                    if wanted <= {*sizes[name]} and (name != "e5" or machine == "x86_64")
                ]
                name, extra = fitting[0] if fitting else ("", "")
                expected = f"--model {name} knows it{after.format(extra) if extra else ''}"
                said = who_knows((code, beside), "nobody")
                assert re.fullmatch(expected if fitting else "nobody", said), (code, beside)
            assert language_name(code) != code
    assert who_knows(("qu",)) == who_knows(("und", "")) == ""


def test_what_a_text_is_said_to_be_in_overrides_its_looks(after: str) -> None:
    known = f"which the encoder does not know; --model e5 knows it{after.format('e5')}"
    assert re.fullmatch(f"f is in Welsh, {known}", check_language("f", GERMAN, CODES, "cy"))
    assert re.fullmatch(f"f looks like Catalan, {known}", check_language("f", CATALAN, CODES, "xx"))
    assert check_language("f", CATALAN, CODES, "eng_Latn") == ""
    assert check_language("f", ENGLISH, CODES, "und") == ""
    said = check_language("f", GERMAN, CODES, "qu")
    assert said.startswith("f is in Quechua, which the encoder does not know; nor does another")


def test_an_encoder_that_is_named_knows_both_sides() -> None:
    both = check_both(("a", "b"), (CATALAN, ENGLISH), CODES, ("", "yo"))
    assert both[0].startswith("a looks like Catalan, ") and both[1].startswith("b is in Yoruba, ")
    assert all("; --model sentence-transformers/LaBSE knows it" in each for each in both)
    both = check_both(("a", "b"), (CATALAN, ENGLISH), CODES, ("", "qu"))
    assert "; --model " in both[0] and "; nor does another" in both[1]
    assert check_both(("a", "b"), (ENGLISH, CATALAN), CODES, ("", ""))[0] == ""
    assert check_both(("a", "b"), (ENGLISH, CATALAN), (), ("", "")) == ["", ""]


@pytest.mark.parametrize("block", BLOCKS)
def test_compatibility_forms_hide_no_language(block: str) -> None:
    for code in ("ar", "de", "en"):
        lines = [in_forms(line, block) for line in LINES[code]]
        assert guess_language(lines) == code
        assert scripts_of("", lines) == scripts_of("", LINES[code])
        assert tell_apart(lines[0], ("ar", "de", "en")) == code


def test_short_lines_are_told_together() -> None:
    lines = "Guten Tag|Bis morgen|Noch nicht|Viel Spaß|Hallo Anna|Was nun|Ach so|Na gut".split("|")
    lines += ["Mir egal", "Komm mit", "Gute Nacht", "Im Garten", "Wer da", "Sei still"]
    assert sure_language(lines) == guess_language(lines) == "de"
    assert sure_language(lines[:5]) == "und"


def test_a_language_of_the_encoder_is_taken_where_it_is_close() -> None:
    """The words are Malay and Indonesian alike."""
    close = ["Ayah saya bekerja di bandar."]
    assert guess_language(close) == "ms"
    assert guess_language(close, CODES) == "id"
    assert guess_language(close, ("id", "ms")) == "ms"
    assert check_language("f", close * 9, CODES) == ""


def test_scripts_and_words_decide() -> None:
    known = ("en", "zh")
    assert check_language("f", ENGLISH, known) == ""
    assert check_language("f", GERMAN, known).startswith("f looks like German, ")
    assert check_language("f", ["他早就认识她了。"], known) == ""
    assert check_language("f", INTERFACE, known) == ""
    assert check_language("f", CODE, known) == ""  # Chinese with many Latin words
    assert "f: much of it is in Cyrillic" in check_language("f", ["Он знал её."], known)
    assert "f: much of it is in Tibetan" in check_language("f", TIBETAN[:2], known)


def test_text_in_no_language_of_the_encoder_is_told_without_a_name() -> None:
    noise = ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"] * 40
    assert check_language("f", noise, CODES).startswith("f looks like no language of the encoder; ")
    assert check_language("f", noise[:9], CODES) == ""  # too few letters to say so


def test_what_cannot_be_told_is_not_warned_about() -> None:
    assert check_language("f", GERMAN, ()) == ""  # nothing known of the encoder
    assert check_language("f", GERMAN, ("en", "xx")) == ""  # nor of its language
    assert check_language("f", GERMAN, ("de", "zh")) == ""
    assert check_language("f", GERMAN[:1], ("en", "zh")) == ""  # too few letters
    assert check_language("f", ["12:30 — 14:00"], ("en", "zh")) == ""


@pytest.mark.parametrize(
    ("texts", "languages", "code"),
    [
        (ENGLISH, ("en", "zh"), "en"),
        (ENGLISH, (), "en"),
        (ENGLISH, ("de",), "en"),
        (INTERFACE, ("en", "zh"), "en"),
        (["Berlin"], ("en", "zh"), "en"),  # few letters, in the script of one language alone
        (["Berlin"], ("en", "de"), "und"),
        (["Berlin"], (), "und"),
        (["他早就认识她了。"], (), "zh"),
        (CODE, ("en", "zh"), "zh"),
        (["コピーしたファイル名の変更"], (), "ja"),
        (["그는 이미 그녀를 알고 있었다."], (), "ko"),
        (["Он знал её давно."], (), "ru"),
        (["Он знал её давно."], ("en", "uk"), "ru"),
        (GERMAN, ("eng_Latn", "deu_Latn"), "de"),
        (["12:30 — 14:00"], ("en", "zh"), "und"),
        (
            ["Anna Müller", "Peter Schmidt", "Giovanni Rossi", "Li Wei", "Juan García"] * 9,
            (),
            "und",
        ),
        ([], (), "und"),
    ],
)
def test_a_language_is_guessed_or_undetermined(
    texts: list[str], languages: tuple[str, ...], code: str
) -> None:
    assert guess_language(texts, languages) == code


@pytest.mark.parametrize(
    ("text", "languages", "code"),
    [
        ("Good morning", ("en", "de"), "en"),
        ("Guten Morgen", ("en", "de"), "de"),
        ("Guten Morgen", ("eng", "deu_Latn", "zh-CN"), "deu_Latn"),
        ("Guten Morgen", ("en", "zh"), "en"),  # by script alone
        ("早上好", ("en", "zh-CN"), "zh-CN"),
        ("useState API 文档说明", ("en", "zh"), "zh"),  # Chinese quotes much Latin
        ("早上好", ("zh-CN", "zh-TW", "en"), "und"),
        ("Guten Morgen", ("en", "xx"), "en"),
        ("Guten Morgen", ("en", "de", "sco_Latn"), "und"),
        ("おはよう", ("en", "zh"), "und"),
        ("42", ("en", "de"), "und"),
        ("", (), "und"),
    ],
)
def test_a_sentence_is_told_apart(text: str, languages: tuple[str, ...], code: str) -> None:
    assert tell_apart(text, languages) == code


def test_the_model_is_loaded_only_where_scripts_and_english_words_do_not_tell() -> None:
    made = "from tests.toys.nineteen import LINES; from xmine.text.identification import *; "
    ends = "import sys; print('py3langid' in sys.modules)"
    check = "check_sides(('a', 'b'), (LINES['en'], LINES['{}']), ('', '')); "
    for code, loads in (("zh", "False"), ("ja", "False"), ("ko", "False"), ("de", "True")):
        program = made + check.format(code) + f"guess_language(LINES['{code}']); " + ends
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert ran.stdout.strip() == loads, ran.stderr


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
CANTONESE = [
    "呢隻係我哋琴日喺河邊見到嘅船，話要去北面嘅城市。",
    "你哋嚟嗰陣，佢仲未學識寫自己個名。",
]


def odd(left: list[str], right: list[str], *codes: str) -> list[str]:
    return check_sides(("a", "b"), (left, right), (codes[0], codes[1]) if codes else ("", ""))


def test_no_two_of_the_nineteen_are_doubted_and_one_twice_or_a_wrong_code_is() -> None:
    for one, other in combinations(CODES, 2):
        assert odd(TWICE[one], TWICE[other]) == odd(TWICE[one], TWICE[other], one, other) == []
        assert odd(TWICE[one], TWICE[other], other, one) == [
            f"a: does not look like {language_name(other)} (--src-lang {other})",
            f"b: does not look like {language_name(one)} (--tgt-lang {one})",
        ]
    for code in CODES:
        both = odd(TWICE[code], TWICE[code][::-1])
        told = f"a and b: both look like {language_name(code)}"
        assert both == ([told] if code != "zh" else [])  # which has many forms
    for text in (LETTER, GERMAN, LIST[:2]):
        assert odd(text, list(text)) == [
            "a and b: the same text; translations need another language"
        ]
    said = odd(LETTER, TWICE["ru"], "rus", "")
    assert said == ["a: does not look like Russian (--src-lang rus)"]


@pytest.mark.parametrize(
    ("left", "right", "codes"),
    [
        (LIST, LIST[::-1], ("", "")),  # names are in no language
        (["12:30", "1,024", "7 %"] * 50, ["9:15", "2,048"] * 50, ("", "")),
        (MANDARIN * 5, CANTONESE * 5, ("", "")),
        (GERMAN[:1], [GERMAN[0].replace("Mann", "Wirt")], ("", "")),  # too few letters
        (LETTER, CODE, ("", "")),
        ([], [], ("", "")),
        (LETTER, CANTONESE * 3, ("en", "yue")),
        (LETTER, GERMAN, ("", "de")),
        (LETTER, GERMAN, ("sco", "de")),  # a language that nothing is known of
        (LIST, CODE, ("fr", "zh")),
        (TWICE["ru"], LETTER, ("sr-Cyrl", "en")),
        (TWICE["id"], LETTER, ("ms", "en")),  # close
        (["Nihao"], ["Hello"], ("zh", "en")),  # too little to say so
    ],
)
def test_languages_that_are_right_or_may_be_are_not_doubted(
    left: list[str], right: list[str], codes: tuple[str, str]
) -> None:
    assert odd(left, right, *codes) == odd(right, left, *codes[::-1]) == []


def plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.replace("đ", "d").replace("œ", "oe"))
    return "".join(
        each
        for each in letters.replace("ł", "l").replace("ı", "i")
        if not unicodedata.combining(each)
    )


@pytest.mark.parametrize("code", CODES)
def test_a_text_without_the_accents_of_its_language_is_named(code: str) -> None:
    assert check_spelling("f", LINES[code] * 9) == []
    lost = check_spelling("f", [plain(line) for line in LINES[code] * 9])
    assert len(lost) == (code in ("cs", "es", "fr", "pl", "pt", "tr", "vi"))
    assert all("without its accents" in each for each in lost)


def test_an_escaped_text_is_named() -> None:
    lines = [*ENGLISH * 9, "It&#39;s", "<b>so</b>"]
    assert check_spelling("f", lines) == []  # two of 47
    (said,) = check_spelling("f", [*lines, "&quot;Yes&quot;"])
    assert said.startswith("f: 6% of the lines have HTML entities or tags; ")
