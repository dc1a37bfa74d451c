"""What `xmine mine` and `xmine score` write: refused before the work, written after it."""

from os.path import realpath
from pathlib import Path

from xmine.errors import OptionError


def check_outputs(
    pairs: str | None, others: dict[str, Path | None], read: list[str], *, force: bool
) -> None:
    """Refuse files that cannot be written, that are read, or that are named twice.

    Args:
        pairs: where the pairs go, if not to stdout.
        others: what goes to other files: `hubs`, `picture`.
        read: the files that are read.
        force: whether they may be there already.
    """
    from xmine.files import check_free
    from xmine.formats.place import place_to_write
    from xmine.pairs import check_pair_file

    written: dict[str, str] = {}  # path -> what goes there
    if pairs:
        check_pair_file(pairs, force=force)
        written |= {realpath(path): "pairs" for path in place_to_write(pairs).paths}
    for what, path in others.items():
        if path is None:
            continue
        if what == "picture":
            from xmine.evaluation.score_picture import check_picture

            check_picture(path, force=force)
        else:
            check_free(path, force=force)
        if (other := written.setdefault(realpath(path), what)) != what:
            raise OptionError(f"{path}: {other} and {what} cannot go to the same file")
    for each in read:
        if realpath(each) in written:
            raise OptionError(f"{each}: input and output are the same file", "give another name")


def files_of(inputs: list[str], *, pairs_first: bool) -> list[str]:
    """List the files that inputs are read from: text inputs, the first one perhaps of pairs."""
    from xmine.formats.place import place_to_read
    from xmine.texts import text_input

    files = list(place_to_read(inputs[0]).paths) if pairs_first else []
    return files + [text_input(each).path for each in inputs[pairs_first:]]
