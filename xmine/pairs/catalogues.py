"""Catalogues read as pairs: gettext and XLIFF, or two files of texts by their keys."""

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
from xmine.text.formats import gettext, read_units, xliff
from xmine.text.formats.units import Translation, one_line
from xmine.text.languages import UNKNOWN_LANGUAGE, is_code

# The end of a name: de, pt_BR or, of Android, pt-rBR.
_CODE = re.compile(r"(?:^|[-_.])([a-z]{2,3})([-_](?:r?[A-Z]{2}|[A-Z][a-z]{3}))?$")


def languages(given: str | tuple[str, str]) -> Languages:
    """Read what a file, or the names of two, say: `de.json`, `app_de.arb`, `values-de/strings.xml`.

    A gettext catalogue says the language of its translations alone.
    """
    if not isinstance(given, str):
        source, target = (_named(Path(each)) for each in given)
        return source, target
    said = xliff.languages(given) if kind_of(given) == "xliff" else ("", gettext.language(given))
    return said[0] or UNKNOWN_LANGUAGE, said[1] or UNKNOWN_LANGUAGE


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
    is_xliff = kind_of(given) == "xliff"
    if not is_xliff:
        needs(name_of(given), "polib")
    choice = Choice(given, chosen)
    choice.of_columns(languages(given))
    found = (xliff if is_xliff else gettext).translations(given)
    return map(choice.turned, _translated(found, losses))


def _translated(found: Iterator[Translation], losses: Losses) -> Iterator[Pair]:
    for source, target, _, fault in found:
        if fault:
            losses.pass_over(why=fault)
        else:
            yield Pair(one_line(source), one_line(target))


def _keyed(paths: tuple[str, str], losses: Losses) -> Iterator[Pair]:
    source, target = (_texts(path, losses) for path in paths)
    both = [key for key in source if key in target]
    if not both:
        names = " and ".join(map(name_of, paths))
        raise FileError(f"{names} have no key together", "give two languages of one catalogue")
    for _ in range(len(source) + len(target) - 2 * len(both)):
        losses.pass_over(why="in one file only")
    for key in both:
        yield Pair(source[key], target[key])


def _texts(path: str, losses: Losses) -> dict[str, str]:
    """Read texts by their keys; a key of all others that names the language, `de.menu`, is none."""
    left_out = Counter[str]()
    units = list(read_units(path, kind_of(path), left_out))
    found = {unit.place: unit.text for unit in units}
    left_out["texts whose key comes again"] = len(units) - len(found)
    losses.texts += left_out
    roots = {key.partition(".")[0] for key in found}
    root = roots.pop()
    if roots or not is_code(root):
        return found
    return {key.partition(".")[2]: text for key, text in found.items()}


def _named(path: Path) -> str:
    file = path.name.removesuffix(packing_of(path.name)).rpartition(".")[0]
    for name in (file, path.parent.name.removesuffix(".lproj")):
        if (code := _CODE.search(name)) and is_code(code[1]):
            return code[1] + (code[2] or "").replace("-r", "-")
    return UNKNOWN_LANGUAGE
