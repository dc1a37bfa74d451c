"""Codes, names and scripts of languages, and the words that English is full of."""

import platform
import re
import sys
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from xmine.errors import OptionError
from xmine.extras import installing
from xmine.text.folding import nfkc, without_markup

# The script of a letter is the first word of its Unicode name. Under no script: written in several.
_BY_SCRIPT = {
    "CJK": "zh Chinese",
    "HIRAGANA KATAKANA CJK": "ja Japanese",
    "HANGUL": "ko Korean",
    "LATIN": (
        "en English, de German, fr French, es Spanish, pt Portuguese, it Italian, cs Czech, "
        "nl Dutch, pl Polish, tr Turkish, id Indonesian, vi Vietnamese, af Afrikaans, "
        "bs Bosnian, ca Catalan, cy Welsh, da Danish, eo Esperanto, et Estonian, eu Basque, "
        "fi Finnish, ga Irish, gl Galician, hr Croatian, hu Hungarian, is Icelandic, la Latin, "
        "lt Lithuanian, lv Latvian, mt Maltese, ms Malay, no Norwegian, ro Romanian, sk Slovak, "
        "sl Slovenian, so Somali, sq Albanian, sv Swedish, sw Swahili, tl Tagalog"
    ),
    "CYRILLIC": (
        "ru Russian, uk Ukrainian, be Belarusian, bg Bulgarian, mk Macedonian, kk Kazakh, "
        "ky Kyrgyz, mn Mongolian, tg Tajik, tt Tatar"
    ),
    "ARABIC": "ar Arabic, fa Persian, ps Pashto, ug Uyghur, ur Urdu",
    "DEVANAGARI": "hi Hindi, mr Marathi, ne Nepali",
    "GREEK": "el Greek",
    "HEBREW": "he Hebrew",
    "THAI": "th Thai",
    "GEORGIAN": "ka Georgian",
    "ARMENIAN": "hy Armenian",
    "ETHIOPIC": "am Amharic",
    "BENGALI": "bn Bengali",
    "TAMIL": "ta Tamil",
    "TELUGU": "te Telugu",
    "": "az Azerbaijani, ku Kurdish, sr Serbian, uz Uzbek",
}
LANGUAGES = {
    code: name
    for names in _BY_SCRIPT.values()
    for code, name in (each.split(" ") for each in names.split(", "))
}
_SCRIPTS = {
    each[:2]: set(scripts.split())
    for scripts, names in _BY_SCRIPT.items()
    for each in names.split(", ")
    if scripts
}
# en, zh-CN, eng_Latn
_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_NO_LANGUAGES = set("src tgt trg ref hyp raw out snt txt tok tc bpe spm".split())
CODES = "give a code such as en, zh-CN or eng_Latn"
# Codes of countries that are no codes of languages -> the language of most people there.
_OF_COUNTRIES = dict(
    pair.split(":")
    for pair in "by:be cn:zh cz:cs dk:da ge:ka gr:el ir:fa jp:ja kr:ko rs:sr ua:uk vn:vi".split()
)
UNKNOWN_LANGUAGE = "und"  # ISO 639-2: undetermined
_SAMPLE = 1000
_SUBTAGS = {
    "Arab": {"ARABIC"},
    "Cyrl": {"CYRILLIC"},
    "Deva": {"DEVANAGARI"},
    "Grek": {"GREEK"},
    "Hang": {"HANGUL"},
    "Hans": {"CJK"},
    "Hant": {"CJK"},
    "Hebr": {"HEBREW"},
    "Jpan": _SCRIPTS["ja"],
    "Latn": {"LATIN"},
    "Thai": {"THAI"},
}
# ISO 639-1 -> ISO 639-3, as files of benchmarks name languages.
ISO_639_3 = dict(
    pair.split(":")
    for pair in (
        "af:afr am:amh ar:ara az:aze be:bel bg:bul bn:ben br:bre bs:bos ca:cat ch:cha cs:ces "
        "cy:cym da:dan de:deu el:ell en:eng eo:epo es:spa et:est eu:eus fa:pes fi:fin fo:fao "
        "fr:fra fy:fry ga:gle gd:gla gl:glg he:heb hi:hin hr:hrv hu:hun hy:hye ia:ina id:ind "
        "ie:ile io:ido is:isl it:ita ja:jpn jv:jav ka:kat kk:kaz km:khm ko:kor ku:kur kw:cor "
        "la:lat lt:lit lv:lvs mk:mkd ml:mal mn:mon mr:mar ms:zsm nb:nob nl:nld nn:nno oc:oci "
        "pl:pol pt:por ro:ron ru:rus sk:slk sl:slv sq:sqi sr:srp sv:swe sw:swh ta:tam te:tel "
        "th:tha tk:tuk tl:tgl tr:tur tt:tat ug:uig uk:ukr ur:urd uz:uzb vi:vie xh:xho yi:yid "
        "zh:cmn"
    ).split()
)
_OTHER_CODES = (
    "arb:ar ary:ar arz:ar chi:zh cze:cs dut:nl fas:fa fre:fr ger:de lav:lv msa:ms nb:no nn:no "
    "nno:no nob:no nor:no zho:zh"
)
_SHORT_CODES = {long: short for short, long in ISO_639_3.items()}
_SHORT_CODES |= dict(pair.split(":") for pair in _OTHER_CODES.split())

# More than a third of the words of English prose are of these, a quarter of those of an interface,
# and a few in a hundred of French, German or Vietnamese ones.
ENGLISH_WORDS = frozenset(
    "the of and to in a is that for it was on with as be by are from at this have not or he "
    "you i his they we which an were their but has had if its can will one more when there "
    "who all would my so what up out about your she her him them these than into do does did "
    "no been our me how could some other only after over also then most such any should".split()
)


def is_language(code: str) -> bool:
    """Tell whether a text looks like the code of a language."""
    return _CODE.fullmatch(code) is not None


def check_code(code: str, option: str) -> None:
    """Refuse what is no code of a language.

    Raises:
        OptionError: the message names the option.
    """
    if not is_language(code):
        raise OptionError(f"{option} is {code!r}", CODES)
    if language := _OF_COUNTRIES.get(code.lower()):
        raise OptionError(
            f"{option} is {code!r}, a code of a country", f"{LANGUAGES[language]} is {language}"
        )


def names_language(name: str) -> bool:
    """Tell whether the ending of a file, or the name of a column, names a language."""
    return is_language(name) and name.lower() not in _NO_LANGUAGES


@cache
def short_code(language: str) -> str:
    """Give the language of a code without its script and region, in two letters where it has them.

    zh of zh-CN, zho_Hans and cmn.
    """
    code = re.split("[-_]", language)[0].lower()
    return _SHORT_CODES.get(code, code)


def language_name(code: str) -> str:
    """Name a language in English; by its code where no name is known here."""
    return LANGUAGES.get(short_code(code), "unknown" if code == UNKNOWN_LANGUAGE else code)


@cache
def other_encoder(codes: tuple[str, ...]) -> tuple[str, str]:
    """Name the smallest encoder of `encoders.toml` that knows some languages.

    Returns:
        what `--model` takes, and the command that installs what it needs, empty where nothing is
        to be installed; two empty strings where none knows them.
    """
    encoders = tomllib.loads(Path(__file__).with_name("encoders.toml").read_text("utf-8"))
    here = f"{sys.platform} {platform.machine()}"
    for name, facts in encoders.items():
        if {*map(short_code, codes)} <= {*facts["languages"].split()}:
            if facts.get("only", here) == here:
                return name, installing(facts["extra"]) if "extra" in facts else ""
    return "", ""


def knows_script(language: str) -> bool:
    """Tell whether the script of a language is known here, so that a text may be told by it."""
    return short_code(language) in _SCRIPTS


def scripts_of(language: str, texts: Sequence[str]) -> set[str]:
    """Name the scripts a language is written in, as Unicode names them (LATIN, CJK).

    Args:
        language: a code; its script (`_Cyrl`) counts if it names one.
        texts: sentences in it, whose main script is taken where the code does not tell.
    """
    code, *subtags = re.split("[-_]", language)
    for subtag in subtags:
        if subtag.title() in _SUBTAGS:
            return _SUBTAGS[subtag.title()]
    code = short_code(code)
    if code in _SCRIPTS:
        return _SCRIPTS[code]
    counts = count_scripts(sampled(texts))
    if counts["HIRAGANA"] >= counts.total() / 5 > 0:
        return _SCRIPTS["ja"]
    return set(sorted(counts, key=lambda script: (-counts[script], script))[:1])


def sampled(texts: Sequence[str]) -> Sequence[str]:
    """Take about a thousand of some texts, evenly; in NFKC, since forms of letters hide scripts."""
    some = texts[:: max(1, len(texts) // _SAMPLE)]
    return [nfkc(without_markup(text)) for text in some]


def count_scripts(texts: Iterable[str]) -> Counter[str]:
    """Count the letters of each script."""
    counts = Counter[str]()
    for letter, times in Counter(chain.from_iterable(texts)).items():
        if letter.isalpha():
            counts[_script(letter)] += times
    return counts


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split(maxsplit=1)[0]
