"""The tables of a run as Parquet: the sentences of a side, and the candidates.

`SIDE.parquet` has a row per sentence, `SIDE.repeats.parquet` a row per line that was folded into an
earlier one, `candidates.parquet` a row per pair that could be kept. pyarrow is loaded when a table
is written or read.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.atomic import replacing
from xmine.files.records import column_texts, open_parquet
from xmine.text.packed import PackedTexts
from xmine.text.sentences import Sentences

_ROWS_OF_A_GROUP = 65536

_AGAIN = "mine into another folder"

_COUNTS = ("total", "blank", "repeated", "unknown")


def write_table(sentences: Sentences, path: Path) -> list[Path]:
    """Write `line`, `offset` if lines were cut into sentences, `occurrences` and `text`.

    The file's metadata has the name and the counts of `Sentences`.

    Returns:
        The files that were written: `path`, and before it that of the repeated lines, if any.

    Raises:
        FileError: it cannot be written.
    """
    facts = {"name": sentences.name, **{each: str(getattr(sentences, each)) for each in _COUNTS}}
    facts["unknown_lines"] = " ".join(map(str, sentences.unknown_lines))
    numbers = {
        "line": sentences.lines,
        "offset": sentences.offsets,
        "occurrences": sentences.occurrences,
    }
    written = []
    if sentences.stands_for is not None:
        written.append(_repeats(path))
        lines = np.arange(1, sentences.total + 1)
        folded = np.flatnonzero(sentences.stands_for != lines)
        repeats = {"line": lines[folded], "stands_for": sentences.stands_for[folded]}
        _write(_repeats(path), {}, repeats, None)
    given = {name: column for name, column in numbers.items() if column is not None}
    _write(path, facts, given, sentences)
    return [*written, path]


def _write(
    path: Path,
    facts: dict[str, str],
    numbers: dict[str, NDArray[np.int64]],
    sentences: Sentences | None,
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [(name, pa.int64()) for name in numbers]
    schema = pa.schema(fields + [("text", pa.large_string())] * (sentences is not None), facts)
    rows = len(next(iter(numbers.values())))
    with replacing(path) as partial, pq.ParquetWriter(partial, schema, compression="zstd") as file:
        for start in range(0, rows, _ROWS_OF_A_GROUP):
            some = slice(start, start + _ROWS_OF_A_GROUP)
            columns: dict[str, Any] = {name: column[some] for name, column in numbers.items()}
            if sentences is not None:
                columns["text"] = _column(sentences.packed, start, min(rows, some.stop))
            file.write_table(pa.table(columns, schema))


def _column(texts: PackedTexts, start: int, stop: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Make a column of some texts, of their buffers as they are."""
    import pyarrow as pa

    offsets = texts.offsets[start : stop + 1] - texts.offsets[start]
    data = texts.data[texts.offsets[start] : texts.offsets[stop]]
    return pa.LargeStringArray.from_buffers(
        stop - start, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))
    )


def read_table(path: Path) -> Sentences:
    """Read what `write_table` wrote.

    Raises:
        FileError: it is missing or broken.
    """
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        try:
            said = {
                name.decode(): value.decode()
                for name, value in (file.schema_arrow.metadata or {}).items()
            }
            counts = {each: int(said[each]) for each in _COUNTS}
            name = said["name"]
        except (KeyError, ValueError):
            raise FileError(f"{path}: not a line table", _AGAIN) from None
        if not {"line", "text"} <= set(names):
            raise FileError(f"{path}: not a line table", _AGAIN)
        numbers = file.read(columns=[name for name in names if name != "text"])
        columns = {name: numbers.column(name).to_numpy() for name in numbers.column_names}
        if not _are_lines(columns["line"], counts["total"]):
            raise FileError(f"{path}: it has lines that are not there", _AGAIN)
        texts = _texts(file, path)
    stands_for = None
    if _repeats(path).exists():
        stands_for = np.arange(1, counts["total"] + 1)
        with open_parquet(_repeats(path)) as file:
            if not {"line", "stands_for"} <= set(file.schema_arrow.names):
                raise FileError(f"{_repeats(path)}: not a table of repeated lines", _AGAIN)
            repeats = file.read()
        lines, others = (repeats.column(name).to_numpy() for name in ("line", "stands_for"))
        if not _are_lines(lines, counts["total"]) or not _are_lines(others, counts["total"]):
            raise FileError(f"{_repeats(path)}: it has lines that are not there", _AGAIN)
        stands_for[lines - 1] = others
    return Sentences(
        name,
        texts,
        columns["line"],
        **counts,
        unknown_lines=tuple(map(int, said.get("unknown_lines", "").split())),
        offsets=columns.get("offset"),
        occurrences=columns.get("occurrences"),
        stands_for=stands_for,
    )


def _are_lines(numbers: NDArray[Any], total: int) -> bool:
    """Tell whether a column has lines of a file, from 1 to `total`."""
    if numbers.dtype != np.int64:
        return False
    return not len(numbers) or bool(1 <= numbers.min() <= numbers.max() <= total)


def _texts(file: Any, path: Path) -> PackedTexts:  # noqa: ANN401 - pyarrow has no types
    """Take the column of texts as the buffers that it is, without a string for each of them.

    A group of rows at a time: the texts of a large table are held once and not twice.
    """
    import pyarrow as pa

    data, ends, row = bytearray(), [np.zeros(1, dtype=np.int64)], 0
    for group in range(file.num_row_groups):
        for chunk in file.read_row_group(group, columns=["text"]).column("text").chunks:
            large = chunk.type == pa.large_string()  # of itself a cast takes 60 ms to load
            column = chunk if large else chunk.cast(pa.large_string())
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                column_texts(column, row, str(path))  # says in which row
                raise
            _, places, texts = column.buffers()
            offsets = np.frombuffer(places, np.int64)[column.offset :][: len(column) + 1]
            ends.append(offsets[1:] - offsets[0] + len(data))
            if texts is not None:
                data += memoryview(texts)[offsets[0] : offsets[-1]]
            row += len(column)
    pa.default_memory_pool().release_unused()
    return PackedTexts(np.frombuffer(data, dtype=np.uint8), np.concatenate(ends))


def _repeats(path: Path) -> Path:
    return path.with_suffix(".repeats.parquet")
