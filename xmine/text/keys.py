"""A text input -> the keys of its texts: those of a catalogue, or of a column beside the texts."""

from collections.abc import Iterable

from xmine.errors import FileError
from xmine.files.suffixes import kind_of
from xmine.text.formats.keyed import KINDS as KEYED
from xmine.text.inputs import TextInput
from xmine.text.languages import is_code

# Columns that name what a row says, in any language.
_COLUMNS = "id", "key", "msgid", "identifier", "string_id", "segment_id", "uid", "guid", "verse"
_SHARED = 0.5  # of the keys of the side with fewer


def keys_of(given: TextInput) -> dict[str, int]:
    """Tell the row, from 0, of each key that stands once; nothing of an input without keys.

    A key of all others that names the language, `de.menu`, is none.
    """
    if not given.is_rereadable or given.files:
        return {}
    if kind_of(given.path) in KEYED and not given.column:
        found = once(without_language(given.places() or ()))
        named = sum(not key.rpartition(".")[2].isdecimal() for key in found)
        return found if 2 * named >= len(found) else {}  # lists have places, and no keys
    if not given.column:
        return {}
    for name in _COLUMNS:
        try:
            if found := once(given.other_column(name)):
                return found
        except FileError:
            continue
    return {}


def once(keys: Iterable[str]) -> dict[str, int]:
    """Tell the row of each key, from 0, that is not blank and stands once."""
    found, again = dict[str, int](), set[str]()
    for row, key in enumerate(keys):
        if key in found:
            again.add(key)
        found[key] = row
    return {key: row for key, row in found.items() if key.strip() and key not in again}


def without_language(keys: Iterable[str]) -> list[str]:
    """Leave a first part that all keys share and that names a language out of them."""
    found = list(keys)
    roots = {key.partition(".")[0] for key in found}
    if len(roots) != 1 or not is_code(min(roots)):
        return found
    return [key.partition(".")[2] for key in found]


def shared_keys(inputs: tuple[TextInput, TextInput]) -> dict[str, tuple[int, int]]:
    """Tell the rows of keys that both sides have; nothing where most are of one side."""
    if not (source := keys_of(inputs[0])) or not (target := keys_of(inputs[1])):
        return {}
    both = {key: (row, target[key]) for key, row in source.items() if key in target}
    return both if len(both) >= _SHARED * min(len(source), len(target)) else {}
