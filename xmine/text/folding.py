"""Text -> one spelling of what is written in several ways, for encoders, keys and flags.

The text that is written to files stays as given. CHARACTERS and PATTERNS are the foldings: first
HTML entities and tags, then NFKC (Unicode Standard Annex 15), then the patterns. The characters
travel inside the vocabulary of an encoder (`xmine.trainer.data.vocabulary`), which costs no time,
with a rule that puts a space before PUNCTUATION: text is read as if it were tokenized.
"""

import html
import re
import tomllib
import unicodedata
from functools import cache
from html.entities import html5
from pathlib import Path

# Chinese characters with their extension blocks, for a class of a regular expression.
HAN = "々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
EAST = HAN + "ぁ-ヿㇰ-ㇿ"  # and kana
LATIN = "A-Za-zÀ-ÖØ-öø-ɏ"
# Of a text so many characters are looked at, some chapters of a book. A longer line is no sentence:
# it is left out of mining, where one of 50 MB would take minutes.
MOST_CHARACTERS = 100_000
PUNCTUATION = "!-/:-@\\[-`{-~¡¿·´‐-―‘-‟«»−ʼ。、「」『』〈〉《》【】"

# Character -> what it becomes, after NFKC.
_TABLE = tomllib.loads(Path(__file__).with_name("characters.toml").read_text("utf-8"))
CHARACTERS: dict[int, str] = {ord(x): to for to, some in _TABLE["become"].items() for x in some}
CHARACTERS |= {
    code: ""
    for first, last in map(str.split, _TABLE["left_out"])
    for code in range(int(first, 16), int(last, 16) + 1)
}
CONSONANTS = "бвгґдзкмнпрстфхцчшщБВГҐДЗКМНПРСТФХЦЧШЩ"
IOTATED = "яюєїЯЮЄЇ"
# What a text has if the pattern matches, the pattern, and what each match becomes, after NFKC, in
# this order.
PATTERNS = [
    # Moses marks the hyphens that its tokenizer has split
    ("@-@", r" @-@ ", "-"),
    # 2,970 and 2.970 and 2 970 are 2970 in some language each
    (r"\d[,.' ]", r"(?<=\d)(?<!\d{4})[,.' ](?=\d{3}(?!\d))", ""),
    # the apostrophe of Ukrainian, typed in many ways and left out
    (f"[{CONSONANTS}]['’ʼ`]", f"(?<=[{CONSONANTS}])['’ʼ`](?=[{IOTATED}])", ""),
    # tokenized Chinese and Japanese, and a space beside Latin words that half of the writers type
    (rf"\s[{EAST}]", rf"(?<!\s)\s+(?=[{EAST}])", ""),
    # Words begin alike after a space, punctuation, a number or, Latin ones, a Chinese character: a
    # vocabulary has other tokens for the middle of a word, and 2970 had two unlike vectors.
    (rf"[{PUNCTUATION}][^\W_]", rf"(?<=[{PUNCTUATION}])(?=[^\W_{EAST}])", " "),
    (r"\d", rf"(?=\d)(?<=[^\s\d])|(?<=\d)(?=[^\W\d_{EAST}])", " "),
    (rf"[{EAST}][{LATIN}]", rf"(?<=[{EAST}])(?=[{LATIN}])", " "),
]

ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
ESCAPES = 2  # &amp;quot; has been escaped twice
# Tags inside of a word, and others. In "a < b", "List<String>" and "<file>" there is none.
_INLINE = "a|abbr|b|big|code|em|font|g|i|s|small|span|strong|sub|sup|tt|u"
_BLOCK = (
    "bpt|br|div|ept|h[1-6]|hr|img|it|li|ol|p|ph|pre|script|style|table|tbody|td|th|thead|tr|ul|x"
)
_ATTRIBUTES = r"""(?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*\s*"""
TAG = re.compile(
    rf"</?(?:({_INLINE})|{_BLOCK})\b{_ATTRIBUTES}/?>|<!--(?:(?!<!--).)*?-->", re.IGNORECASE
)

_FULL_WIDTH = re.compile("[\uff01-\uff5e]")
_TO_HALF_WIDTH = ord("\uff01") - ord("!")


def nfkc(text: str) -> str:
    """Apply NFKC: one form of an accented letter, of full and half width, of ligatures.

    The full-width commas of Chinese are replaced first. Most lines are then normal, which Python
    tells in a fifth of the time that the normal form takes.
    """
    if text.isascii():
        return text
    half = _FULL_WIDTH.sub(lambda found: chr(ord(found[0]) - _TO_HALF_WIDTH), text)
    return unicodedata.normalize("NFKC", half)


def caseless(text: str) -> str:
    """Fold case; the dotted and the dotless i of Turkish are one letter, as they are in English."""
    text = text.casefold()
    return text if text.isascii() else text.replace("i\u0307", "i").replace("ı", "i")


def without_markup(text: str) -> str:
    """Resolve HTML entities, those of Moses among them, and leave out tags of HTML and XLIFF."""
    if "&" in text:
        for _ in range(ESCAPES):
            text = ENTITY.sub(resolved, text)
    return TAG.sub(tag_becomes, text) if "<" in text else text


def resolved(entity: re.Match[str]) -> str:
    """Give the character of an entity; one that is unknown stays."""
    name = entity[0][1:]
    if name == "bar;":  # Moses before 2012
        return "|"
    return html.unescape(entity[0]) if name[0] == "#" else html5.get(name, entity[0])


def tag_becomes(tag: re.Match[str]) -> str:
    """Give what stands for a tag: nothing inside of a word, else a space."""
    return "" if tag[1] else " "


@cache
def _compiled() -> list[tuple[re.Pattern[str], re.Pattern[str], str]]:
    """Compile PATTERNS, when the first text is folded, not at the start of every command."""
    return [(re.compile(needs), re.compile(pattern), to) for needs, pattern, to in PATTERNS]


def fold(text: str, *, spaced: bool = True) -> str:
    """Give the text that an encoder reads: without markup, in NFKC, `spaced` by PATTERNS."""
    text = nfkc(without_markup(text))
    if not spaced:
        return text
    for needs, pattern, to in _compiled():
        if needs.search(text):
            text = pattern.sub(to, text)
    return text
