"""Texts in several languages -> the pairs of each two of them, in a run for each two.

The runs stand in one folder, and share the files of their steps: each text is read and encoded
once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair
from xmine.errors import OptionError
from xmine.files.atomic import replacing, writing
from xmine.files.cache import PARTS
from xmine.files.records import json_row
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.mining.stages import SharedWork
from xmine.progress import Report, silent
from xmine.run.steps import Steps
from xmine.text.inputs import TextInput

LANGUAGES_FILE = "languages.json"

Languages = tuple[str, str]


def language_pairs(codes: Sequence[str], asked: str = "english") -> list[Languages]:
    """Choose the pairs of languages to mine.

    Args:
        codes: the languages that are there.
        asked: `english`, all languages with English, or with the first one where there is no
            English; `all`; or pairs such as `en-de,de-fr`.

    Raises:
        OptionError: a pair is none, or has a language that is not there.
    """
    if asked == "all":
        return list(combinations(codes, 2))
    if asked == "english":
        first = "en" if "en" in codes else codes[0]
        return [(first, code) for code in codes if code != first]
    found = list[Languages]()
    for each in asked.split(","):
        source, _, target = each.strip().partition("-")
        if source not in codes or target not in codes or source == target:
            raise OptionError(
                f"--pairs {each}: no pair of {', '.join(codes)}", "english, all, or en-de,de-fr"
            )
        found.append((source, target))
    return found


def mine_languages(
    texts: Mapping[str, TextInput],
    pairs: Sequence[Languages],
    run: Path,
    encoder: SentenceEncoder | EncoderPair | None = None,
    options: MiningOptions | None = None,
    report: Report = silent,
    *,
    force: bool = False,
    told: Callable[[str, Mined], object] = lambda name, mined: None,
) -> dict[str, Mapping[str, object]]:
    """Mine pairs of languages, each into `run/SOURCE-TARGET/`.

    Args:
        texts: of each language.
        pairs: of languages, see `language_pairs`.
        run: the folder of all; a killed run goes on.
        encoder, options, report, force: see `mine`.
        told: called with the name of each run and what was mined.

    Returns:
        of each run by its name the facts of its summary.

    Raises:
        OptionError: `run` is a folder with other files.
        FileError: see `mine`.
    """
    if run.exists() and not (run / LANGUAGES_FILE).exists() and any(run.iterdir()):
        raise OptionError(f"{run}: a folder with other files in it", "give another folder")
    options = options or MiningOptions()
    with writing(run):
        run.mkdir(exist_ok=True)
    found = dict[str, Mapping[str, object]]()
    _describe(run, texts, found)
    shared, encoder = SharedWork(Steps(run / PARTS)), encoder or SentenceEncoder.load()
    for source, target in pairs:
        name, own = f"{source}-{target}", replace(options, src_lang=source, tgt_lang=target)
        sides, place = (texts[source], texts[target]), run / name
        mined = mine(*sides, encoder, own, report, run=place, force=force, shared=shared)
        found[name] = mined.report().facts()
        told(name, mined)
    shared.steps.sweep()
    _describe(run, texts, found)
    return found


def _describe(
    run: Path, texts: Mapping[str, TextInput], found: Mapping[str, Mapping[str, object]]
) -> None:
    """Write the languages with their texts, and the facts of each pair."""
    given = {code: text.given for code, text in texts.items()}
    with replacing(run / LANGUAGES_FILE) as partial:
        partial.write_text(json_row({"texts": given, "pairs": found}), encoding="utf-8")
