"""Which language is a text in, and was the encoder made for it?

A wrong language gives scores like any other, so it has to be noticed before mining. Scripts tell it
where they can, then the function words of English, then py3langid, which is loaded only then.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest

from xmine.text.folding import MOST_CHARACTERS, nfkc, without_markup
from xmine.text.identifier import identifier
from xmine.text.languages import (
    ALIKE,
    ENGLISH_WORDS,
    LANGUAGES,
    NAMES,
    TABLE,
    UNKNOWN_LANGUAGE,
    count_scripts,
    knows_script,
    language_name,
    sampled,
    scripts_of,
    short_code,
    who_knows,
)

_SCRIPT_NAMES = {"CJK": "Chinese characters"}
# Of words of English prose and interfaces a fifth and more are function words, of a dozen kinds; of
# text in seventeen other languages up to 0.18, of four kinds or so that look the same there.
_SURE_FUNCTION_WORDS, _SURE_KINDS = 0.2, 12
_WORD = re.compile(r"[^\W\d_]+")
# Short lines are joined to this many characters, of which one language is nearly certain; of a line
# of Tatoeba alone several are likely.
_GROUP = 100
_MOST_GROUPS = 100
_LONGEST = 1000  # characters of a line
_CLOSE = 2  # an encoder's language that is half as likely as another is taken
_LEAST = 0.3  # probability of a language that is named
_SURE = 0.7  # that is told to the user as what a file is in
_SURER = 0.9  # of the two likeliest together, where a text is said not to be in a third
_EXCLUDED = 0.05  # which has less than this
_SURE_LETTERS = 100
_MANY_LETTERS = 500
_MADE_FOR = "`xmine model info` lists those that it was made for; give another with --model"
_NOBODY = "nor does another that xmine can name; `xmine align` pairs versions in any language"
Texts = Sequence[str]
_MARKED = 0.05  # of the lines have markup, in a text that is said to have some


@dataclass(frozen=True, slots=True)
class _Looks:
    """What a text looks like: its letters by script, and the probability of each language."""

    scripts: Counter[str]
    languages: Mapping[str, float]

    def likeliest(self, expected: Collection[str] = ()) -> str:
        """Give the likeliest language; an expected one if it is close."""
        found = self.languages
        return max(
            found,
            key=lambda code: found[code] * (_CLOSE if code in expected else 1),
            default=UNKNOWN_LANGUAGE,
        )

    def is_sure(self, code: str, *, alike: bool = False) -> bool:
        """Tell whether a text is in a language beyond doubt, or at least in one that is `alike`."""
        codes = next((each for each in ALIKE if alike and code in each), [code])
        enough = self.scripts.total() >= _SURE_LETTERS
        return enough and sum(self.languages.get(each, 0) for each in codes) >= _SURE

    def is_not(self, code: str) -> bool:
        """Tell whether a text is surely not in a language: in one of two others, or its script."""
        letters = self.scripts.total()
        if not knows_script(code) or letters < _SURE_LETTERS:
            return False
        if sum(nlargest(2, self.languages.values())) >= _SURER:
            return self.languages.get(short_code(code), 0) < _EXCLUDED
        return sum(self.scripts[script] for script in scripts_of(code, ())) < letters / 10


def check_language(
    name: str, texts: Sequence[str], languages: Sequence[str], said: str = "", beside: str = ""
) -> str:
    """Say what makes a text look foreign to an encoder; an empty string if nothing does.

    About a thousand of the texts are looked at. Nothing is checked without languages: codes
    of those of the encoder; nor where one is not known here. What a text is `said` to be in counts
    more than its looks. `beside` is the code of the other side, which another encoder has to know.
    """
    known = list(dict.fromkeys(map(short_code, languages)))
    if not known or not LANGUAGES.keys() >= set(known) or short_code(said) in known:
        return ""
    looks = _look(texts)
    letters, code = looks.scripts.total(), looks.likeliest(known)
    if short_code(said) in NAMES or (code not in known and looks.is_sure(code, alike=True)):
        verb, code = ("is in", said) if short_code(said) in NAMES else ("looks like", code)
        advice = who_knows((code, beside)) or who_knows((code,), _NOBODY)
        return f"{name} {verb} {language_name(code)}, which the encoder does not know; {advice}"
    expected = set().union(*(scripts_of(code, ()) for code in known))
    foreign = {script: count for script, count in looks.scripts.items() if script not in expected}
    if all(map(knows_script, known)) and sum(foreign.values()) > letters / 4:
        worst = max(foreign, key=foreign.__getitem__)
        script = _SCRIPT_NAMES.get(worst, worst.capitalize())
        return f"{name}: much of it is in {script}, in no language of the encoder; {_MADE_FOR}"
    if letters >= _MANY_LETTERS and sum(looks.languages.get(code, 0) for code in known) < _LEAST:
        return f"{name} looks like no language of the encoder; {_MADE_FOR}"
    return ""


def check_both(names: Texts, texts: Sequence[Texts], languages: Texts, said: Texts) -> list[str]:
    """Give what `check_language` says of each side; an encoder that it names knows both."""
    if not languages:
        return ["", ""]
    codes = [said[side] or guess_language(texts[side], languages) for side in (1, 0)]
    sides = zip(names, texts, said, codes, strict=True)
    return [check_language(name, side, languages, *both) for name, side, *both in sides]


def check_spelling(name: str, texts: Sequence[str]) -> list[str]:
    """Say that a text is escaped, or lacks the accents of its language; nothing where it is not.

    About a thousand of the texts are looked at.
    """
    marked = [without_markup(text) != text for text in texts[:: max(1, len(texts) // 1000)]]
    said, code = list[str](), sure_language(texts)
    if marked and sum(marked) >= _MARKED * len(marked):
        said.append(
            f"{name}: {sum(marked) / len(marked):.0%} of the lines have HTML entities or tags; "
            "static encoders read the text without them, pairs keep them: see the flag markup"
        )
    letters = [each for text in sampled(texts) for each in text if each.isalpha()]
    accents = sum(not each.isascii() for each in letters)
    if len(letters) >= _MANY_LETTERS and accents < TABLE["accented"].get(code, 0) / 10 * len(
        letters
    ):
        said.append(
            f"{name}: {language_name(code)} without its accents, of which encoders know little; "
            "give the text as it is spelled"
        )
    return said


def guess_language(texts: Sequence[str], expected: Sequence[str] = ()) -> str:
    """Guess the language of a text: the ISO 639-1 code, or `und` where it cannot be told.

    About a thousand of the texts are looked at. An `expected` language, such as one of the encoder,
    is taken where it is close to the likeliest, or where a few letters are in its script alone.
    """
    looks, codes = _look(texts), {short_code(code): code for code in expected}
    code = looks.likeliest(codes)
    if looks.languages.get(code, 0) >= _LEAST:
        return code
    if looks.scripts.total() >= _SURE_LETTERS:
        return UNKNOWN_LANGUAGE
    fitting = _fitting(looks.scripts, list(codes))
    return fitting[0] if len(fitting) == 1 else UNKNOWN_LANGUAGE


def sure_language(texts: Sequence[str]) -> str:
    """Give the language that a text is in beyond doubt, or `und`; a thousand are looked at."""
    looks = _look(texts)
    code = looks.likeliest()
    return code if looks.is_sure(code) else UNKNOWN_LANGUAGE


def tell_apart(text: str, languages: Sequence[str], least: float = 0.0) -> str:
    """Tell which of some languages a sentence is in: its code as given, or `und`.

    It is told by script alone where that is enough, else if its probability is above `least`.
    """
    text = nfkc(without_markup(text[:MOST_CHARACTERS]))
    fitting = _fitting(count_scripts([text]), languages)
    if len(fitting) == 1:
        return fitting[0]
    codes = {short_code(code): code for code in fitting}
    if not 1 < len(codes) == len(fitting) or not LANGUAGES.keys() >= codes.keys():
        return UNKNOWN_LANGUAGE
    (first, likeliest), (_, second), *_ = identifier(tuple(sorted(codes))).rank(text)
    return codes[first] if likeliest > max(second, least) else UNKNOWN_LANGUAGE


def check_sides(
    names: tuple[str, str],
    texts: tuple[Sequence[str], Sequence[str]],
    codes: tuple[str, str],
    said: tuple[str, str] = ("--src-lang", "--tgt-lang"),
) -> list[str]:
    """Say what is odd about two texts that are to be translations: one text twice, one language.

    Nothing is said where a language cannot be told beyond doubt: lists of names and numbers, or
    languages that are much alike. About a thousand texts of each side are looked at.

    `codes` are the languages that they are said to be in, by options or words that `said` has;
    empty where nothing is said.
    """
    if len(texts[0]) == len(texts[1]) > 0 and sampled(texts[0]) == sampled(texts[1]):
        return [f"{names[0]} and {names[1]}: the same text; translations need another language"]
    looks = [*map(_look, texts)]
    code, other = (each.likeliest() for each in looks)
    # Mandarin, Cantonese and Wu, in either script, all look like Chinese.
    if code == other != "zh" and all(each.is_sure(code) for each in looks):
        return [f"{names[0]} and {names[1]}: both look like {language_name(code)}"]
    return [
        f"{name}: does not look like {language_name(code)} ({word} {code})"
        for name, word, code, look in zip(names, said, codes, looks, strict=True)
        if look.is_not(code)
    ]


def looks_foreign(texts: Sequence[str], code: str) -> bool:
    """Tell whether texts are surely not in a language; about a thousand of them are looked at."""
    return _look(texts).is_not(code)


def _look(texts: Sequence[str]) -> _Looks:
    return _looks_of(tuple(sampled(texts)))


@lru_cache(maxsize=2)  # both sides of a run are looked at by one check after the other
def _looks_of(sample: tuple[str, ...]) -> _Looks:
    scripts = count_scripts(sample)
    if not scripts:
        return _Looks(scripts, {})
    if code := _by_script(scripts):
        return _Looks(scripts, {code: 1})
    if scripts["LATIN"] > scripts.total() / 2 and _is_english(sample):
        return _Looks(scripts, {"en": 1})
    groups = list(_groups(sample))
    groups = groups[:: max(1, len(groups) // _MOST_GROUPS)]
    found: Counter[str] = Counter()
    for group in groups:
        for code, probability in identifier().rank(group):
            found[short_code(code)] += probability / len(groups)
    return _Looks(scripts, {code: found[code] for code in found if code != "zxx"})  # no language


def _by_script(scripts: Counter[str]) -> str:
    """Tell Chinese, Japanese and Korean; an empty string if there is little of their scripts.

    They quote much Latin, but no Latin text a fifth of them; kana and Hangul stand beside Chinese
    characters.
    """
    kana = sum(scripts[script] for script in ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"))
    eastern = kana + scripts["HANGUL"] + scripts["CJK"]
    if not eastern or eastern < scripts.total() / 5:
        return ""
    if kana >= eastern / 5:
        return "ja"
    return "ko" if scripts["HANGUL"] >= eastern / 5 else "zh"


def _fitting(scripts: Counter[str], languages: Sequence[str]) -> list[str]:
    """Choose the languages that are written in the main script of a text."""
    if told := _by_script(scripts):
        return [code for code in languages if short_code(code) == told]
    main = max(scripts, key=scripts.__getitem__, default="")
    return [code for code in languages if main in scripts_of(code, ())]


def _is_english(sample: Sequence[str]) -> bool:
    """Tell whether texts are in English beyond doubt, by words alone."""
    words = Counter(word.casefold() for text in sample for word in _WORD.findall(text))
    known = {word: words[word] for word in ENGLISH_WORDS if word in words}
    sure = sum(known.values()) >= words.total() * _SURE_FUNCTION_WORDS
    return sure and len(known) >= _SURE_KINDS


def _groups(lines: Sequence[str]) -> Iterator[str]:
    """Join lines that follow each other."""
    group = ""
    for line in lines:
        group += f" {line[:_LONGEST]}"
        if len(group) > _GROUP:
            yield group
            group = ""
    if group.strip():
        yield group
