"""gettext catalogues (.po, .pot) -> their messages, and the translations of these."""

import re
from collections.abc import Iterator

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.text.formats.units import Passage, Translation, line_of, read_text

_HINT = "copy it again, or mend the line; msgfmt -c names all that is wrong"
_OPEN = re.compile(r'^(?:msg\w+(?:\[\d+\])?[ \t]+|[ \t]*)"(?!.*"[ \t]*$).*$', re.MULTILINE)
_OTHER_FORM = "in a further plural form"
_LANGUAGE = re.compile(r'^"Language:[ \t]*([\w@.-]+)', re.MULTILINE)


def read(path: str) -> Iterator[Passage]:
    """Read the messages themselves, those in the plural too."""
    for found in translations(path):
        if found.fault != _OTHER_FORM:
            yield Passage(found.source, found.place)


def language(path: str) -> str:
    """Read the language of the translations out of the head; empty if it does not say."""
    said = _LANGUAGE.search(read_text(path, says_charset=True))
    return re.split("[.@]", said[1])[0] if said else ""


def translations(path: str) -> Iterator[Translation]:
    """Read each message with its translation; obsolete ones are left out.

    Of a plural the first form belongs to the singular and the last to the plural, others to none;
    where the language has one form, that is both.
    """
    import polib

    text, name = read_text(path, says_charset=True), name_of(path)
    lines = "\n" + text
    if cut := _OPEN.search(text):
        raise FileError(
            f"{name}:{line_of(text, cut.start())}: a text without its closing quote", _HINT
        )
    if (last := lines.rfind("\nmsgid")) > lines.rfind("\nmsgstr"):
        raise FileError(f"{name}:{line_of(text, last)}: a msgid without msgstr", _HINT)
    try:
        entries = polib.pofile(text + "\n")  # a text of one line could be the name of a file
    except (OSError, ValueError) as error:
        line = re.search(r"line (\d+)", str(error))
        why = re.sub(r" in po file.*| \(.*", "", str(error)) or "cannot be parsed"
        raise FileError(f"{name}:{line[1] if line else 1}: {why}", _HINT) from None
    for entry in entries:
        if entry.obsolete:
            continue
        fuzzy, place = "marked fuzzy" * entry.fuzzy, f"line {entry.linenum or 1}"
        forms = [form for _, form in sorted(entry.msgstr_plural.items())] or [entry.msgstr]
        sides = [(entry.msgid, forms[0], "")]
        if entry.msgid_plural:
            sides.append((entry.msgid_plural, forms[-1], ""))
            sides += [(entry.msgid_plural, form, _OTHER_FORM) for form in forms[1:-1]]
        for source, target, other in sides:
            why = other or fuzzy or "not translated" * (not target)
            yield Translation(source, target, place, why)
