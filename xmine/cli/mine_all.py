"""xmine mine-all: a folder of texts in several languages -> the pairs of each two, in a run each.

The runs share the files of their steps: each text is read and encoded once.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Annotated

from xmine.cli.arguments import FORCE, MODEL, SOURCE, value
from xmine.cli.console import Console
from xmine.cli.encoders import load_encoders
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import OptionError
from xmine.mining.options import MiningOptions
from xmine.text.languages import language_name, short_code

LANGUAGES_FILE = "languages.json"


@with_flags
def mine_all(
    source: SOURCE,
    output: Annotated[Path, value("Folder of the runs.", "-o --output", group="Most used")],
    options: MiningOptions,
    console: Console,
    languages: Annotated[str, value(group="Most used", shown=True, metavar="<codes>")] = "auto",
    pairs: Annotated[str, value(group="Most used", shown=True)] = "english",
    model: MODEL = None,
    force: FORCE = False,
) -> None:
    """Mine each two languages of a folder.

    Names say the language of a file (x.en, x_en.txt, en/x.txt), or else its lines. Each pair of
    languages gets a run in the folder, and what `xmine mine` would write there.

    Example: xmine mine-all site/ --languages en,de,fr -o runs/

    Args:
        languages: Codes with commas between; auto: all that are there.
        pairs: Pairs of languages: english (each with English), all, or en-de,de-fr.
    """
    from xmine.files.atomic import replacing, writing
    from xmine.files.cache import PARTS
    from xmine.files.records import json_row
    from xmine.mining.pipeline import mine
    from xmine.mining.stages import SharedWork
    from xmine.run.steps import Steps
    from xmine.text.by_language import split_by_language
    from xmine.text.inputs import text_input

    if output.exists() and not (output / LANGUAGES_FILE).exists() and any(output.iterdir()):
        raise OptionError(f"{output}: a folder with other files in it", "give another folder")
    asked = [] if languages == "auto" else [short_code(x.strip()) for x in languages.split(",")]
    encoder, whole = load_encoders(model, options, console), text_input(source, join=options.join)
    console.warn(*whole.warnings)
    texts = split_by_language(whole, asked, encoder.facts.languages)
    for code, text in texts.items():
        files = count(len(text.files.names) if text.files else 1, "file")
        console.say(f"{language_name(code)}: {count(text.survey.lines, 'line')} of {files}")
    if missing := [code for code in asked if code not in texts]:
        raise OptionError(f"{source}: no text in {', '.join(missing)}", "leave the language out")
    if len(texts) < 2:
        raise OptionError(f"{source}: texts in fewer than two languages", "name --languages en,de")
    chosen = language_pairs(list(texts), pairs)
    found = dict[str, object]()

    def describe() -> None:
        given = {code: text.given for code, text in texts.items()}
        with replacing(output / LANGUAGES_FILE) as partial:
            partial.write_text(json_row({"texts": given, "pairs": found}), encoding="utf-8")

    with writing(output):
        output.mkdir(exist_ok=True)
    describe()
    shared, every = SharedWork(Steps(output / PARTS)), 0
    with console.progress() as report:
        for one, other in chosen:
            name, own = f"{one}-{other}", replace(options, src_lang=one, tgt_lang=other)
            run, sides = output / name, (texts[one], texts[other])
            mined = mine(*sides, encoder, own, report, run=run, force=force, shared=shared)
            told = mined.report()
            console.say(f"{run}: {count(len(mined.pairs), 'pair')}")
            console.warn(*(f"{name}: {warning}" for warning in told.warnings))
            found[name], every = told.facts(), every + len(mined.pairs)
    shared.steps.sweep()
    describe()
    said = f"{output}: {count(every, 'pair')} of {len(found)} pairs of languages"
    console.summary(f"{said}, {console.seconds:.1f} s", {"pairs": every, "languages": found})


def language_pairs(codes: Sequence[str], asked: str) -> list[tuple[str, str]]:
    """Choose pairs of languages: `english`, or the first where there is no English; `all`; listed.

    Raises:
        OptionError: a listed pair is none, or has a language that is not there.
    """
    if asked == "all":
        return list(combinations(codes, 2))
    if asked == "english":
        first = "en" if "en" in codes else codes[0]
        return [(first, code) for code in codes if code != first]
    found = list[tuple[str, str]]()
    for each in asked.split(","):
        source, _, target = each.strip().partition("-")
        if source not in codes or target not in codes or source == target:
            raise OptionError(
                f"--pairs {each}: no pair of {', '.join(codes)}", "english, all, or en-de,de-fr"
            )
        found.append((source, target))
    return found
