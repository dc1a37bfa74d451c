"""Languages are told in tests/command with real paragraphs; here the rules on small ones."""

import pytest

from xmine.languages import check_language, guess_language, short_code

ENGLISH = ["The man who was here before had not seen any of these people, but he knew her."] * 5
GERMAN = ["Der Mann, der hier war, hatte keinen von diesen Leuten gesehen, doch er kannte sie."] * 5
INTERFACE = ["Delete selected files", "Open in new window", "Are you sure?", "Save as a copy"] * 9
CODE = ["React memo hook 组件", "useState 状态 API 文档"] * 50


def test_script_and_function_words_decide() -> None:
    languages = ("en", "zh")
    assert check_language("f", ENGLISH, languages) == ""
    assert "does not read like en" in check_language("f", GERMAN, languages)
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
