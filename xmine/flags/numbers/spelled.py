"""Number words of German, French, Spanish, Italian, Portuguese and Dutch, by text2num."""

import re
from functools import partial

from xmine.flags.numbers.anywhere import ANYWHERE, digits_anywhere
from xmine.flags.numbers.number import Number

_LEAST, _LARGE = 2.0, 1e6  # one and two are said in more ways, and so are `bilioni`
_ARE = re.compile(r"\bsei\b", re.IGNORECASE)  # Italian for six, and for a form of to be
_ORDINAL = re.compile(r"(\d+)[^\s\d.,:;!?)'’\"”»]")  # 8º, 5e; also a part: un quinto


def _words(language: str, text: str) -> list[Number]:
    from text_to_num import alpha2digit

    spelled = alpha2digit(_ARE.sub(" ", text), language, _LEAST)
    ordinals = _ORDINAL.findall(spelled)
    return [
        x._replace(digits=False, counts=min(x.readings) < _LARGE and x.written not in ordinals)
        for x in digits_anywhere(spelled, language)
        if x.written not in text
    ]


def _any_words(language: str, text: str) -> bool:
    return bool(_words(language, text))


SPELLED = {
    code: ANYWHERE._replace(words=partial(_words, code), may_count=partial(_any_words, code))
    for code in ("de", "fr", "es", "it", "pt", "nl")
}
