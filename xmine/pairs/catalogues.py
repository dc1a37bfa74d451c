"""Catalogues read as pairs: files of two languages or more, or two files of texts by their keys."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from xmine.errors import FileError
from xmine.extras import needs
from xmine.files.reading import name_of
from xmine.files.suffixes import kind_of, packing_of
from xmine.pairs.language_choice import Choice
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Languages, Pair
from xmine.text.formats import BILINGUAL, READERS
from xmine.text.formats.units import Translation, one_line
from xmine.text.inputs import keys_of, text_input
from xmine.text.languages import UNKNOWN_LANGUAGE, is_code

# The end of a name: de, pt_BR or, of Android, pt-rBR.
_CODE = re.compile(r"(?:^|[-_.])([a-z]{2,3})([-_](?:r?[A-Z]{2}|[A-Z][a-z]{3}))?$")


def languages(given: str | tuple[str, str]) -> Languages:
    """Read what a file, or the names of two, say: `de.json`, `app_de.arb`, `values-de/strings.xml`.

    Of three languages or more none are told. A gettext catalogue says that of its translations.
    """
    if isinstance(given, str):
        source, target = _said(given)
    else:
        source, target = (_said(each)[1] or _named(Path(each)) for each in given)
    return source or UNKNOWN_LANGUAGE, target or UNKNOWN_LANGUAGE


def _said(path: str) -> Languages:
    module = BILINGUAL.get(kind_of(path))
    codes: tuple[str, ...] = module.languages(path) if module else ()
    return (codes[0], codes[1]) if len(codes) == 2 else ("", "")


def read(
    given: str | tuple[str, str],
    chosen: Languages | None = None,
    losses: Losses | None = None,
) -> Iterator[Pair]:
    """Read each message with its translation, or of two files the texts with the same keys.

    `losses` counts what is fuzzy, not translated, or in one of two files.
    """
    losses = Losses() if losses is None else losses
    if not isinstance(given, str):
        return _keyed(given, losses)
    if needed := READERS[kind_of(given)][0]:
        needs(name_of(given), needed)
    choice, module = Choice(given, chosen), BILINGUAL[kind_of(given)]
    codes = module.languages(given)
    if len(codes) == 2:
        choice.of_columns(languages(given))
        return map(choice.turned, _translated(module.translations(given), losses))
    if chosen is None:
        raise choice.too_many(name_of(given), list(codes))
    return _translated(module.translations(given, *chosen[::-1]), losses)


def _translated(found: Iterator[Translation], losses: Losses) -> Iterator[Pair]:
    for source, target, _, fault in found:
        if fault:
            losses.pass_over(why=fault)
        else:
            yield Pair(one_line(source), one_line(target))


def _keyed(paths: tuple[str, str], losses: Losses) -> Iterator[Pair]:
    source, target = (_texts(path, losses) for path in paths)
    if source.keys().isdisjoint(target):
        names = " and ".join(map(name_of, paths))
        raise FileError(f"{names} have no key together", "give two languages of one catalogue")
    for key in source | target:
        if key in source and key in target:
            yield Pair(source[key], target[key])
        else:
            losses.pass_over(why="in one file only")


def _texts(path: str, losses: Losses) -> dict[str, str]:
    given = text_input(path)
    keys = keys_of(given) or []
    found = dict(zip(keys, given.texts(), strict=True))
    again = Counter({"texts whose key comes again": len(keys) - len(found)})
    losses.texts += given.left_out + again
    return found


def _named(path: Path) -> str:
    file = path.name.removesuffix(packing_of(path.name)).rpartition(".")[0]
    for name in (file, path.parent.name.removesuffix(".lproj")):
        if (code := _CODE.search(name)) and is_code(code[1]):
            return code[1] + (code[2] or "").replace("-r", "-")
    return ""
