"""gettext catalogues (.po, .pot) -> their messages, and the translations of these."""

import re
from collections.abc import Iterator

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.text.formats.units import OTHER_FORM, Translation, line_of, one_line, read_text, short

_HINT = "copy it again, or mend the line; msgfmt -c names all that is wrong"
_OPEN = re.compile(r'^(?:msg\w+(?:\[\d+\])?[ \t]+|[ \t]*)"(?!.*"[ \t]*$).*$', re.MULTILINE)
_LANGUAGE = re.compile(r'^"Language:[ \t]*([\w@.-]+)', re.MULTILINE)


class _Lines(str):
    """A text that polib parts at line feeds alone, not at U+2028 inside a message."""

    def splitlines(self, keepends: bool = False) -> list[str]:
        return self.split("\n")


def languages(path: str) -> tuple[str, str]:
    """Read the language of the translations out of the head; it never says the other."""
    said = _LANGUAGE.search(read_text(path, says_charset=True))
    return "", re.split("[.@]", said[1])[0] if said else ""


def translations(path: str) -> Iterator[Translation]:
    """Read each message with its translation; obsolete ones are left out.

    Of a plural the first form belongs to the singular and the last to the plural, others to none;
    where the language has one form, that is both. The place is the message, behind its context.
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
        # A text of one line could be the name of a file.
        entries = polib.pofile(_Lines(text + "\n"))
    except (OSError, ValueError) as error:
        line = re.search(r"line (\d+)", str(error))
        why = re.sub(r" in po file.*| \(.*", "", str(error)) or "cannot be parsed"
        raise FileError(f"{name}:{line[1] if line else 1}: {why}", _HINT) from None
    for entry in entries:
        if entry.obsolete:
            continue
        fuzzy = "marked fuzzy" * entry.fuzzy
        place = short(one_line("|".join(filter(None, (entry.msgctxt, entry.msgid)))))
        forms = [form for _, form in sorted(entry.msgstr_plural.items())] or [entry.msgstr]
        sides = [(entry.msgid, forms[0], "", "")]
        if many := entry.msgid_plural:
            sides.append((many, forms[-1], "[n]", ""))
            sides += [(many, form, f"[{at}]", OTHER_FORM) for at, form in enumerate(forms[1:-1], 1)]
        for source, target, more, other in sides:
            why = fuzzy or "not translated" * (not target) or other
            yield Translation(source, target, place + more, why)
