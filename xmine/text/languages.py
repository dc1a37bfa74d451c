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
from typing import Any

from xmine.errors import OptionError
from xmine.extras import EXTRAS, installing, is_installed
from xmine.text.folding import MOST_CHARACTERS, nfkc, without_markup


def read_table(name: str) -> dict[str, Any]:
    """Read a table that lies beside this module."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


TABLE = read_table("languages")
_NAMED = [
    (scripts, *each.split(" "))
    for scripts, names in TABLE["names"].items()
    for each in names.split(", ")
]
LANGUAGES: dict[str, str] = {code: name for _, code, name in _NAMED}
_MORE_NAMES: str = TABLE["codes"]["other_names"]
NAMES = dict(each.split(" ", 1) for each in _MORE_NAMES.split(", ")) | LANGUAGES
_SCRIPTS: dict[str, set[str]] = {code: {*scripts.split()} for scripts, code, _ in _NAMED if scripts}
# en, zh-CN, eng_Latn
_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_NO_LANGUAGES = set("src tgt trg ref hyp raw out snt txt tok tc bpe spm".split())
CODES = "give a code such as en, zh-CN or eng_Latn"
_OF_COUNTRIES = _pairs(TABLE["codes"]["countries"])
ALIKE = [each.split() for each in TABLE["codes"]["alike"]]
UNKNOWN_LANGUAGE = "und"  # ISO 639-2: undetermined
_SAMPLE = 1000
_SUBTAGS = {subtag: set(scripts.split()) for subtag, scripts in TABLE["subtags"].items()}
ISO_639_3 = _pairs(TABLE["codes"]["iso_639_3"])
_SHORT_CODES = {long: short for short, long in ISO_639_3.items()} | _pairs(TABLE["codes"]["others"])
ENGLISH_WORDS = frozenset(TABLE["words"]["english"].split())


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


def is_code(name: str) -> bool:
    """Tell whether a name is a code; one of three letters has to be known, or any word is one."""
    return names_language(name) and (len(name) != 3 or knows_script(name))


@cache
def same_language(one: str, other: str) -> bool:
    """Tell whether two codes may be one language: `en` and `en-US`, but not `zh-CN` and `zh-TW`."""
    one, other = one.lower().replace("_", "-"), other.lower().replace("_", "-")
    return one == other or one.startswith(f"{other}-") or other.startswith(f"{one}-")


@cache
def short_code(language: str) -> str:
    """Give the language of a code without its script and region, in two letters where it has them.

    zh of zh-CN, zho_Hans and cmn.
    """
    code = re.split("[-_]", language)[0].lower()
    return _SHORT_CODES.get(code, code)


def language_name(code: str) -> str:
    """Name a language in English; by its code where no name is known here."""
    return NAMES.get(short_code(code), "unknown" if code == UNKNOWN_LANGUAGE else code)


def other_encoder(codes: Iterable[str]) -> tuple[str, str]:
    """Name the smallest encoder of `encoders.toml` that knows some languages, where they are told.

    Returns:
        what `--model` takes, and the command that installs it, empty where nothing is to be
        installed; both empty where there is none.
    """
    here = f"{sys.platform} {platform.machine()}"
    wanted = {*map(short_code, codes)} - {"", UNKNOWN_LANGUAGE}
    for name, facts in read_table("encoders").items():
        if set() < wanted <= {*facts["languages"].split()} and facts.get("only", here) == here:
            missing = not all(map(is_installed, EXTRAS.get(facts.get("extra"), ())))
            return name, installing(facts["extra"]) if missing else ""
    return "", ""


def who_knows(codes: Iterable[str], otherwise: str = "") -> str:
    """Say which encoder knows some languages, and what installs it; or `otherwise`."""
    model, install = other_encoder(codes)
    after = f", after `{install}`" if install else ""
    return f"--model {model} knows it{after}" if model else otherwise


def knows_script(language: str) -> bool:
    """Tell whether the script of a language is known here, so that a text may be told by it."""
    return short_code(language) in _SCRIPTS


def written_in(scripts: set[str]) -> set[str]:
    """Give the codes of languages that are written in just these scripts."""
    return {code for code, found in _SCRIPTS.items() if found == scripts}


def scripts_of(language: str, texts: Sequence[str]) -> set[str]:
    """Name the scripts a language is written in, as Unicode names them (LATIN, CJK).

    The script of a code counts (`_Cyrl`) if it names one; where it does not tell, the main script
    of the texts does.
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
    return [nfkc(without_markup(text[:MOST_CHARACTERS])) for text in some]


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
