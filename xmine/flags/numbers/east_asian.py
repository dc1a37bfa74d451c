"""Japanese and Korean text -> text of the same length with numbers as Chinese writes them."""

import re

_JAPANESE = {"午後": "下午", "夜": "晚", "分の": "分之", "割": "成", "数": "几", "・": "."}
_JAPANESE_WORD = re.compile("午後|夜|分の|割|数|(?<=[0-9])・(?=[0-9])")
_KOREAN = dict(zip(map(ord, "십백천만억조년월"), map(ord, "十百千万亿兆年月"), strict=True))
# Units and marks of dates count behind digits alone: 만 is also `only`, 조 an article (제1조).
_KOREAN_UNITS = re.compile(
    r"(?<!제\d)(?<!제\d\d)(?:(?<=\d)|(?<=\d ))(?:[십백천만억조]+(?!큼)|년(?!대)|월)"
)
_KOREAN_WORDS = {"오후": "下午", "저녁": "晚上", "세기": "世纪", "년대": "年代"}
_KOREAN_WORD = re.compile("|".join(_KOREAN_WORDS))
_APART = re.compile(r"(?<=[千万亿兆])( )(\d[\d,.]*\d|\d)")


def from_japanese(text: str) -> str:
    """Write 午後3時, 3分の1, 3割 and 1・5 as Chinese does."""
    return _JAPANESE_WORD.sub(lambda found: _JAPANESE[found[0]], text)


def from_korean(text: str) -> str:
    """Write 3만 5천, 90년대, 9월 and 오후 3시 as Chinese does, without a space inside a number."""
    text = _KOREAN_WORD.sub(lambda found: _KOREAN_WORDS[found[0]], text)
    text = _KOREAN_UNITS.sub(lambda found: found[0].translate(_KOREAN), text)
    return _APART.sub(r"\2\1", text)
