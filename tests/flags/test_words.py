"""Closed classes of words: months, weekdays and negators of every language that has a list."""

import pytest

from xmine.flags.negation import negated_alone, negators
from xmine.flags.numbers import differing, reader

# A Monday in March, in April, on Tuesday, did not come, came.
WORDS = {
    "ar": ("الاثنين مارس", "أبريل", "الثلاثاء", "لم يصل", "وصل"),
    "cs": ("v pondělí v březnu", "v dubnu", "v úterý", "nepřijela", "přijela"),
    "de": ("Montag im März", "im April", "am Dienstag", "kam nicht", "kam"),
    "es": ("un lunes de marzo", "en abril", "el martes", "no llegó", "llegó"),
    "fr": ("un lundi de mars", "en avril", "mardi", "n’est pas venu", "est venu"),
    "hi": ("मार्च में सोमवार", "अप्रैल में", "मंगलवार को", "नहीं आई", "कीमत आई"),
    "id": ("Senin di bulan Maret", "bulan April", "Selasa", "tidak datang", "datang"),
    "it": ("un lunedì di marzo", "in aprile", "martedì", "non è arrivata", "è arrivata"),
    "ja": ("3月の月曜日", "4月", "火曜日", "来なかった", "来た"),
    "ko": ("3월 월요일", "4월", "화요일", "오지 않았다", "왔다"),
    "nl": ("een maandag in maart", "in april", "dinsdag", "kwam niet", "kwam"),
    "pl": ("w poniedziałek w marcu", "w kwietniu", "we wtorek", "nie przypłynęła", "przypłynęła"),
    "pt": ("uma segunda-feira de março", "em abril", "na terça-feira", "não chegou", "chegou"),
    "ru": ("в понедельник в марте", "в апреле", "во вторник", "не пришла", "пришла"),
    "sv": ("en måndag i mars", "i april", "på tisdag", "kom inte", "kom"),
    "tr": ("mart ayında pazartesi", "nisanda", "salı günü", "gelmedi", "geldi"),
    "uk": ("у понеділок у березні", "у квітні", "у вівторок", "не прийшов", "прийшов"),
    "vi": ("thứ hai tháng ba", "tháng tư", "thứ ba", "không đến", "đến"),
    "zh": ("三月的星期一", "四月", "星期二", "没来", "来了"),
}


def alone(english: str, other: str, code: str) -> tuple[str, str]:
    found = negated_alone((english, other), negators("en"), negators(code))
    assert negated_alone((other, english), negators(code), negators("en")) == found[::-1]
    return found


@pytest.mark.parametrize("code", WORDS)
def test_words_of_every_language_are_read(code: str) -> None:
    same, month, weekday, negated, plain = WORDS[code]
    readers = reader("en"), reader(code)
    assert not differing("A Monday in March", same, *readers)
    assert differing("It was in March", month, *readers)
    assert differing("It was on Monday", weekday, *readers)
    assert alone("It did not come.", plain, code) == ("not", "")
    assert alone("It came.", negated, code)[1]
    assert alone("It didn’t come.", negated, code) == alone("It came.", plain, code) == ("", "")


@pytest.mark.parametrize(
    ("english", "other", "code"),
    [
        ("He came without a boat.", "Er kam nicht mit einem Boot.", "de"),  # may stand for it
        ("The boat is unsafe.", "这条船不安全。", "zh"),
        ("Not only the boat sank.", "Auch das Boot sank.", "de"),
        ("The boat is very good.", "这条船非常不错。", "zh"),
        ("Is the boat big or small?", "船大不大？", "zh"),
        ("The boat did not come.", "Mashua ilifika.", "sw"),  # no list
        ("Fares rose.", "Die Preise stiegen.", "de"),
        ("Fares rose, then fell.", "Die Preise sanken.", "de"),
        ("Fares never rose.", "Die Preise sanken nie.", "de"),
    ],
)
def test_what_only_looks_so_is_passed_over(english: str, other: str, code: str) -> None:
    assert alone(english, other, code) == ("", "")
