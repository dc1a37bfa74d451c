"""A text input -> the keys of its texts: those of a catalogue, or of a column beside the texts."""

from collections import Counter
from collections.abc import Iterable

from xmine.errors import FileError
from xmine.files.suffixes import kind_of
from xmine.text.formats import BILINGUAL
from xmine.text.inputs import TextInput, keys_of

# Columns that name what a row says, in any language.
_COLUMNS = "id", "key", "msgid", "identifier", "string_id", "segment_id", "uid", "guid", "verse"
_SHARED = 0.5  # of the keys of the side with fewer


def rows_by_key(given: TextInput) -> dict[str, int]:
    """Tell the row, from 0, of each key that stands once; nothing of an input without keys."""
    if not given.is_rereadable or given.files:
        return {}
    if (keys := keys_of(given)) is not None:
        found = once(keys)
        named = sum(not key.rpartition(".")[2].isdecimal() for key in found)
        is_list = kind_of(given.path) not in BILINGUAL and 2 * named < len(found)
        return {} if is_list else found  # places in a list, which other texts have as well
    for name in _COLUMNS if given.column else ():
        try:
            if found := once(given.other_column(name)):
                return found
        except FileError:
            continue
    return {}


def once(keys: Iterable[str]) -> dict[str, int]:
    """Tell the row of each key, from 0, that is not blank and stands once."""
    times = Counter(every := list(keys))
    return {key: row for row, key in enumerate(every) if times[key] == 1 and key.strip()}


def shared_keys(inputs: tuple[TextInput, TextInput]) -> dict[str, tuple[int, int]]:
    """Tell the rows of keys that both sides have; nothing where most are of one side."""
    if not (source := rows_by_key(inputs[0])) or not (target := rows_by_key(inputs[1])):
        return {}
    both = {key: (row, target[key]) for key, row in source.items() if key in target}
    return both if len(both) >= _SHARED * min(len(source), len(target)) else {}
