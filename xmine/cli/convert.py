"""xmine convert: a file of pairs -> the same pairs in another format."""

from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import FORCE, FORMAT, PAIRS, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.cli.outputs import on_stdout, print_pairs
from xmine.files.suffixes import PACKED, WRITTEN_SUFFIXES, kind_of
from xmine.text.languages import UNKNOWN_LANGUAGE, check_code
from xmine.version import __version__

if TYPE_CHECKING:
    from xmine.pairs.pair import Languages, Pair

_LOOKED_AT = 1000


@with_flags
def convert(
    source: PAIRS,
    target: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help=f"File to write: {WRITTEN_SUFFIXES}, also {PACKED}; - for rows on stdout.",
        ),
    ],
    console: Console,
    src_lang: Annotated[str, value(shown="what FILE or its text says")] = "",
    tgt_lang: Annotated[str, value(shown="what FILE or its text says")] = "",
    format: FORMAT = None,
    force: FORCE = False,
) -> None:
    """Convert a file of pairs to another format.

    Formats go by suffix. The summary says what the new one cannot hold.

    Example: xmine convert pairs.tsv pairs.tmx --src-lang en --tgt-lang zh

    Args:
        src_lang: Source language to write.
        tgt_lang: Target language to write.
    """
    for flag, code in (("--src-lang", src_lang), ("--tgt-lang", tgt_lang)):
        if code:
            check_code(code, flag)

    from xmine.display import count
    from xmine.pairs.io import check_pair_file, languages_of, read_pairs, write_pairs
    from xmine.pairs.losses import Losses
    from xmine.pairs.pair import UNKNOWN_LANGUAGES
    from xmine.pairs.paths import NAMES_LANGUAGES, language_warnings, refuse_turned

    if on_stdout(console, target, format) is None:
        console.say(", ".join(print_pairs(read_pairs(source), format)))
        return
    check_pair_file(target, force=force, source=source)
    known = languages_of(source) or UNKNOWN_LANGUAGES
    languages = (src_lang or known[0], tgt_lang or known[1])
    losses, kind = Losses(), kind_of(target)
    pairs = read_pairs(source, losses)
    doubts: list[str] = []
    tells_languages = not kind or kind in NAMES_LANGUAGES
    if tells_languages and (src_lang or tgt_lang or UNKNOWN_LANGUAGE in languages):
        first = list(islice(pairs, _LOOKED_AT))
        pairs = chain(first, pairs)
        languages, doubts = _told(source, first, languages, (src_lang, tgt_lang))
    refuse_turned(target, languages)
    written = write_pairs(pairs, target, languages, losses)
    warnings = doubts + language_warnings(target, languages)
    if not tells_languages and UNKNOWN_LANGUAGE not in languages:
        written.notes.append(f"a .{kind} does not name languages ({','.join(languages)})")
    console.warn(*warnings)
    console.summary(
        f"{target}: "
        + ", ".join([count(written.count, "pair"), f"{console.seconds:.1f} s", *written.notes]),
        {
            "pairs": written.count,
            "input": source,
            "output": target,
            "languages": list(languages),
            "notes": written.notes,
            "warnings": warnings,
            "seconds": round(console.seconds, 3),
            "version": __version__,
        },
    )


def _told(
    name: str, pairs: "list[Pair]", languages: "Languages", given: "Languages"
) -> "tuple[Languages, list[str]]":
    """Tell languages that are not known by the text of some pairs, as mining tells them.

    Returns:
        the languages, and warnings where those that are given are not those of the text.
    """
    from xmine.encoders.hub import EMBEDDED
    from xmine.encoders.metadata import read_facts
    from xmine.text.identification import check_sides, guess_language

    likely = read_facts(EMBEDDED, "").languages
    sides = [pair.source for pair in pairs], [pair.target for pair in pairs]
    source, target = (
        guess_language(side, likely) if code == UNKNOWN_LANGUAGE else code
        for code, side in zip(languages, sides, strict=True)
    )
    names = f"source of {name}", f"target of {name}"
    return (source, target), check_sides(names, sides, given) if any(given) else []
