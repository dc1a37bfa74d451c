"""Names of the files that the app writes: it replaces none, and so asks for another."""

from pathlib import Path

from xmine.errors import FileError, XmineError


def free_name(name: str, *suffixes: str) -> str:
    """Give a name that nothing has yet: `name`, or with a number, `pairs-2.tsv`.

    Args:
        name: of a file in the working folder.
        suffixes: of files beside it, which must not be there either.
    """
    path = Path(name)
    names = (path, *(path.with_stem(f"{path.stem}-{n}") for n in range(2, 100)))
    for each in names:
        if not any(each.with_suffix(suffix).exists() for suffix in (path.suffix, *suffixes)):
            return str(each)
    return name


def without_force(error: XmineError) -> XmineError:
    """Give an error with a hint for the app, where that of the command is to use `--force`."""
    if "--force" in error.hint:
        return FileError(error.message, "give another name")
    return error
