"""Which language is a text in, and was the encoder made for it? Told by script and function words.

A wrong language gives scores like any other, so it has to be noticed before mining.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

# Chinese characters with their extension blocks, for a class of a regular expression.
HAN = "々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# The script of a letter is the first word of its Unicode name.
_SCRIPTS = {
    "ar": {"ARABIC"},
    "bg": {"CYRILLIC"},
    "el": {"GREEK"},
    "he": {"HEBREW"},
    "hi": {"DEVANAGARI"},
    "ja": {"HIRAGANA", "KATAKANA", "CJK"},
    "ko": {"HANGUL"},
    "ru": {"CYRILLIC"},
    "th": {"THAI"},
    "uk": {"CYRILLIC"},
    "zh": {"CJK"},
}
_LATIN = {"LATIN"}
# en, zh-CN, eng_Latn
_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_NO_LANGUAGES = set("src tgt trg ref hyp raw out snt txt tok tc bpe spm".split())
CODES = "give a code such as en, zh-CN or eng_Latn"
_SCRIPTS |= dict.fromkeys(
    "cs da de en es fi fr hu id it nl no pl pt ro sv sw tr vi".split(), _LATIN
)
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
    "Latn": _LATIN,
    "Thai": {"THAI"},
}
_LONG_CODES = {"cmn": "zh", "chi": "zh", "deu": "de", "eng": "en", "fra": "fr", "jpn": "ja"}
_LONG_CODES |= {"kor": "ko", "rus": "ru", "spa": "es", "ukr": "uk", "zho": "zh"}
_NAMES = {"CJK": "Chinese characters", "HIRAGANA": "Japanese kana", "KATAKANA": "Japanese kana"}

# More than a third of the words of English prose are of these, a quarter of those of an interface,
# and a few in a hundred of French, German or Vietnamese ones.
_FUNCTION_WORDS = {
    "en": frozenset(
        "the of and to in a is that for it was on with as be by are from at this have not or he "
        "you i his they we which an were their but has had if its can will one more when there "
        "who all would my so what up out about your she her him them these than into do does did "
        "no been our me how could some other only after over also then most such any should".split()
    )
}
# Two languages in one script are told apart by these alone; what is here is told beyond doubt.
_ONLY = {"HIRAGANA": "ja", "HANGUL": "ko", "GREEK": "el", "THAI": "th"}
_FULL_NAMES = {"en": "English", "ja": "Japanese", "ko": "Korean", "el": "Greek", "th": "Thai"}
_FULL_NAMES |= {"zh-Hans": "Chinese", "zh-Hant": "Chinese"}
# Of the characters of Mandarin prose 2 to 6 in a hundred are 的, of Cantonese, Wu and word lists
# fewer than one; and 3 to 10 are of one of these sets.
_VARIANTS = {"zh-Hans": "这们来个时说国对会为过学还没", "zh-Hant": "這們來個時說國對會為過學還沒"}
# Of words of English prose and interfaces a fifth and more are function words, of a dozen kinds; of
# text in seventeen other languages up to 0.18, of four kinds or so that look the same there.
_SURE_FUNCTION_WORDS, _SURE_KINDS = 0.2, 12
_SURE_LETTERS = 100
UNKNOWN_LANGUAGE = "und"  # ISO 639-2: undetermined
_FEWEST_FUNCTION_WORDS = 0.12
_FEWEST_WORDS = 50
_SAMPLE = 1000
_WORD = re.compile(r"[^\W\d_]+")


def is_language(code: str) -> bool:
    """Tell whether a text looks like the code of a language."""
    return _CODE.fullmatch(code) is not None


def names_language(name: str) -> bool:
    """Tell whether the ending of a file, or the name of a column, names a language."""
    return is_language(name) and name.lower() not in _NO_LANGUAGES


def check_language(name: str, texts: Sequence[str], languages: Sequence[str]) -> str:
    """Say what makes a text look foreign to an encoder; an empty string if nothing does.

    Args:
        name: the file, for the message.
        texts: its sentences; about a thousand of them are looked at.
        languages: ISO 639-1 codes of the encoder's languages; nothing is checked if there are
            none, or one whose script is not known here.
    """
    if not languages or not set(languages) <= _SCRIPTS.keys():
        return ""
    sample = _sample(texts)
    scripts = _scripts(sample)
    letters = scripts.total()
    if not letters:
        return ""
    expected = set().union(*(_SCRIPTS[language] for language in languages))
    made_for = f"the encoder was made for {', '.join(languages)}; give another with --model"
    foreign = {script: count for script, count in scripts.items() if script not in expected}
    # Japanese is a third to a half kana; Chinese text quotes little of it.
    if sum(foreign.values()) > letters / 4:
        worst = max(foreign, key=foreign.__getitem__)
        return f"{name}: much of it is in {_NAMES.get(worst, worst.capitalize())}; {made_for}"
    latin = [language for language in languages if _SCRIPTS[language] == _LATIN]
    if scripts["LATIN"] > letters * 0.8 and set(latin) <= _FUNCTION_WORDS.keys():
        share, words = _function_words(sample, latin)
        if words >= _FEWEST_WORDS and share < _FEWEST_FUNCTION_WORDS:
            wanted = " or ".join(_FULL_NAMES[language] for language in latin)
            return f"{name}: does not look like {wanted}; {made_for}"
    return ""


def guess_language(texts: Sequence[str], languages: Sequence[str] = ()) -> str:
    """Guess the language of a text: the ISO 639-1 code, or `und` where it cannot be told.

    Args:
        texts: its sentences; about a thousand of them are looked at.
        languages: what it may be, such as the encoder's languages; every one whose script is
            known here if there are none.
    """
    sample = _sample(texts)
    scripts = _scripts(sample)
    letters = scripts.total()
    possible = [code for code in languages or _SCRIPTS if code in _SCRIPTS]
    # Chinese quotes much Latin, but no Latin text a fifth of Chinese; kana and Hangul stand beside
    # Chinese characters.
    for script, code in (("HIRAGANA", "ja"), ("HANGUL", "ko"), ("CJK", "zh")):
        if letters and scripts[script] >= letters / 5:
            return code if code in possible else UNKNOWN_LANGUAGE
    main = max(scripts, key=scripts.__getitem__, default="")
    fitting = [code for code in possible if main in _SCRIPTS[code]]
    if main == "LATIN" and "en" in fitting:
        share, words = _function_words(sample, ["en"])
        if share >= _FEWEST_FUNCTION_WORDS:
            return "en"
        if words >= _FEWEST_WORDS:
            fitting.remove("en")
    return fitting[0] if len(fitting) == 1 else UNKNOWN_LANGUAGE


def check_sides(
    names: tuple[str, str], texts: tuple[Sequence[str], Sequence[str]], codes: tuple[str, str]
) -> list[str]:
    """Say what is odd about two texts that are to be translations: one text twice, one language.

    Nothing is said where a language cannot be told beyond doubt: lists of names and numbers, or
    languages that share a script.

    Args:
        names: the files, for the message.
        texts: their sentences; about a thousand of each are looked at.
        codes: the languages that the user says they are in; empty where nothing is said.
    """
    left, right = (_sample(side) for side in texts)
    if len(texts[0]) == len(texts[1]) > 0 and left == right:
        return [f"{names[0]} and {names[1]}: the same text; translations need another language"]
    told = _told(left), _told(right)
    if told[0] and told[0] == told[1]:
        return [f"{names[0]} and {names[1]}: both look like {_FULL_NAMES[told[0]]}"]
    wrong = [
        _is_not(code, side, language)
        for code, side, language in zip(codes, (left, right), told, strict=True)
    ]
    if any(wrong) and not (_is_not(codes[1], left, told[0]) or _is_not(codes[0], right, told[1])):
        return [
            f"--src-lang {codes[0] or 'left out'}, --tgt-lang {codes[1] or 'left out'}: the other "
            f"way round? {names[0]} looks like {codes[1]}"
        ]
    sides = zip(names, ("--src-lang", "--tgt-lang"), codes, wrong, strict=True)
    return [f"{name}: does not look like {code} ({flag})" for name, flag, code, bad in sides if bad]


def looks_foreign(texts: Sequence[str], code: str) -> bool:
    """Tell whether texts are surely not in a language; about a thousand of them are looked at."""
    sample = _sample(texts)
    return _is_not(code, sample, _told(sample))


def _is_not(code: str, sample: Sequence[str], told: str) -> bool:
    """Tell whether a text is surely not in a language, which the text itself told perhaps."""
    if not knows_script(code):
        return False
    if told:
        return short_code(told) != short_code(code)
    scripts = _scripts(sample)
    fitting = sum(scripts[script] for script in scripts_of(code, ()))
    return scripts.total() >= _SURE_LETTERS and fitting < scripts.total() / 10


def _told(sample: Sequence[str]) -> str:
    """Tell a language beyond doubt, Chinese with its script; an empty string if that fails."""
    scripts = _scripts(sample)
    letters = scripts.total()
    if letters < _SURE_LETTERS:
        return ""
    for script, code in _ONLY.items():
        if scripts[script] >= letters / 5:
            return code
    if scripts["CJK"] >= letters / 3:
        held = Counter(letter for text in sample for letter in text)
        simple, full = (sum(held[each] for each in signs) for signs in _VARIANTS.values())
        if held["的"] < scripts["CJK"] * 0.015 or 10 * min(simple, full) > max(simple, full):
            return ""
        return "zh-Hans" if simple > full else "zh-Hant"
    words = Counter(word.casefold() for text in sample for word in _WORD.findall(text))
    known = {word: words[word] for word in _FUNCTION_WORDS["en"] if word in words}
    sure = sum(known.values()) >= words.total() * _SURE_FUNCTION_WORDS
    return "en" if sure and len(known) >= _SURE_KINDS else ""


def short_code(language: str) -> str:
    """Give the language of a code without its script and region, in two letters where it has them.

    zh of zh-CN, zho_Hans and cmn.
    """
    code = re.split("[-_]", language)[0].lower()
    return _LONG_CODES.get(code, code)


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
    counts = _scripts(_sample(texts))
    if counts["HIRAGANA"] >= counts.total() / 5 > 0:
        return _SCRIPTS["ja"]
    return set(sorted(counts, key=lambda script: (-counts[script], script))[:1])


def function_words(language: str) -> frozenset[str]:
    """Give the words that prose of a language is full of; none where they are not known here."""
    return _FUNCTION_WORDS.get(short_code(language), frozenset())


def _sample(texts: Sequence[str]) -> Sequence[str]:
    return texts[:: max(1, len(texts) // _SAMPLE)]


def _scripts(texts: Sequence[str]) -> Counter[str]:
    """Count the letters of each script."""
    return Counter(_script(letter) for text in texts for letter in text if letter.isalpha())


def _function_words(texts: Sequence[str], languages: Sequence[str]) -> tuple[float, int]:
    """Measure the share of function words of some languages, and count all words."""
    words = [word.casefold() for text in texts for word in _WORD.findall(text)]
    known = frozenset().union(*(_FUNCTION_WORDS[language] for language in languages))
    return sum(word in known for word in words) / max(1, len(words)), len(words)


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split(maxsplit=1)[0]
