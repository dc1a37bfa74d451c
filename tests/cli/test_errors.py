"""Wrong files: one line that names file and line, a true hint, exit 1, nothing left behind."""

import gzip
import lzma
from pathlib import Path
from unittest.mock import Mock

import pytest
import zstandard

from tests.toys.command import Command, Toy
from xmine.errors import FileError
from xmine.text.sentences import read_sentences

TEXT = b"bade fifi\ngolu mane\n" * 200

WRONG_FILES = {
    "blank": (b"\n \n\t\r\n", "wrong.txt: no text in it, only blank lines", ""),
    "not UTF-8": (
        b"good\nalso good\nb\xe9d\n",
        "wrong.txt:3: not UTF-8: byte 2 of the line is 0xe9",
        "convert it, for example: iconv -f CP1252 -t UTF-8 wrong.txt > utf8.txt",
    ),
    "carriage returns": (
        b"one\rtwo\rthree",
        "wrong.txt: lines end in carriage returns alone",
        "tr '\\r' '\\n' <",
    ),
    "UTF-16": (
        "text\n".encode("utf-16"),
        "wrong.txt:1: UTF-16 text",
        "convert it, for example: iconv -f UTF-16 -t UTF-8 wrong.txt > utf8.txt",
    ),
    "UTF-16LE without a mark": (
        "text\n".encode("utf-16-le"),
        "wrong.txt:1: a binary file (it has a NUL byte)",
        "give a text file; of UTF-16 text convert it, for example: iconv -f UTF-16LE -t UTF-8 wro",
    ),
    "MP4": (b"\0\0\0\x18ftypmp42\0\0\0\0", "wrong.txt: sound or video", "give its subtitles"),
    "cut xz": (lzma.compress(TEXT)[:-9], "wrong.txt: a broken archive: ", "copy it again"),
    "cut zst": (zstandard.compress(TEXT)[:-9], "wrong.txt: a broken archive: ", "copy it again"),
    "no gz": (b"\x1f\x8b no gzip at all", "wrong.txt: a broken archive: ", "copy it again"),
    "not UTF-8 in gz": (gzip.compress(b"ok\nb\xe9d\n"), "wrong.txt:2: not UTF-8", "convert it"),
}


@pytest.mark.parametrize("what", WRONG_FILES)
def test_a_file_that_is_no_text_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    data, message, hint = WRONG_FILES[what]
    Path("wrong.txt").write_bytes(data)
    with pytest.raises(FileError) as refused:
        read_sentences("wrong.txt")
    assert refused.value.message.startswith(message)
    assert refused.value.hint.startswith(hint) and bool(refused.value.hint) == bool(hint)


def test_missing_files_and_folders_fail_by_name(command: Command, toy_files: Toy) -> None:
    for name, message in {
        "en.txt/x": "en.txt/x: Not a directory",
        "x" * 300: f"{'x' * 300}: cannot be read: File name too long",
    }.items():
        ended = command("mine", "en.txt", name, "-o", "pairs.tsv")
        assert ended.err.splitlines()[0] == f"xmine: {message}"
        assert (ended.code, ended.out, ended.touched) == (1, "", set())


def test_every_command_that_reads_text_refuses_what_is_none(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    Path(tmp_path, "wrong.txt").write_bytes(b"good\n\xff\n")
    for arguments in (
        ["encode", "wrong.txt", "-o", "out.npy"],
        ["search", "text", "wrong.txt"],
        ["search", "wrong.txt", "zh.txt"],
        ["train", "wrong.txt", "-o", "encoder"],
        ["train", "pairs.tsv", "-o", "encoder", "--exclude", "wrong.txt"],
        ["mine", "en.txt", "zh.txt", "--gold", "wrong.txt"],
    ):
        Path(tmp_path, "pairs.tsv").write_text("a\tb\n" * 5)
        model = [] if arguments[0] == "train" else ["--model", toy_folder]
        ended = command(*arguments, *model)
        assert ended.err.startswith("xmine: wrong.txt:2: not UTF-8"), arguments
        assert ended.code == 1
        assert {path for path in ended.touched if path != "pairs.tsv"} == set()


def test_what_is_in_the_way_is_kept(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    Path(tmp_path, "old.tsv").write_text("old\n")
    Path(tmp_path, "folder.tsv").mkdir()
    for output, message in {
        "old.tsv": "old.tsv: exists already",
        "folder.tsv": "folder.tsv: is a folder",
        "no/where.tsv": "no: no such folder",
        "old.tsv/pairs.tsv": "old.tsv: is a file, not a folder",
    }.items():
        ended = command("mine", "en.txt", "zh.txt", "--model", toy_folder, "-o", output)
        assert ended.err.startswith(f"xmine: {message}\nhint: ")
        assert (ended.code, ended.touched) == (1, set())
    forced = command("mine", "en.txt", "zh.txt", "-o", "folder.tsv", "--force")
    assert forced.err.startswith("xmine: folder.tsv: is a folder")
    assert (forced.code, forced.touched) == (1, set())


def test_a_folder_without_an_encoder_is_refused(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    Path(tmp_path, "empty").mkdir()
    for model, message in {
        "empty": "empty: not an encoder: it has no modules.json or config.json",
        "nowhere": "nowhere: no such encoder folder",
        "en.txt": "en.txt: is a file",
    }.items():
        for arguments in (
            ["mine", "en.txt", "zh.txt", "-o", "pairs.tsv", "--model", model],
            ["encode", "en.txt", "-o", "en.npy", "--model", model],
            ["model", "info", model],
        ):
            ended = command(*arguments)
            assert ended.err.splitlines()[0] == f"xmine: {message}"
            assert (ended.code, ended.out, ended.touched) == (1, "", set())


def test_a_matrix_does_not_replace_its_text(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    Path("link.npy").symlink_to("en.txt")
    ended = command("encode", "en.txt", "-o", "link.npy", "--model", toy_folder, "--force")
    assert (ended.code, ended.touched) == (2, set())
    assert "link.npy: input and output are the same file" in ended.err


def test_failures_of_the_system_are_no_bugs_of_xmine(
    command: Command, toy_files: Toy, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_torch = type("OutOfMemoryError", (RuntimeError,), {})  # by its name
    for error, said in (
        (OSError(28, "No space left"), "en.npy: cannot be written: No space left\nhint: "),
        (MemoryError(), "out of memory\nhint: "),
        (of_torch("CUDA"), "out of memory on the GPU\nhint: give a smaller --batch-size"),
    ):
        write = Mock(side_effect=error)
        monkeypatch.setattr("xmine.files.npy.ArrayWriter.write", write)
        ended = command("encode", "en.txt", "-o", "en.npy", "--model", toy_folder)
        assert f"\nxmine: {said}" in ended.err
        assert (ended.code, ended.touched) == (1, set())


def test_a_bug_says_so_and_shows_a_traceback_when_asked(
    command: Command, toy_files: Toy, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.mining.pipeline.mine", lambda *_, **__: 1 / 0)
    ended = command("mine", "en.txt", "zh.txt", "--model", toy_folder)
    assert ended.err.startswith("xmine: internal error: ZeroDivisionError: division by zero\nhint:")
    assert (ended.code, ended.touched) == (1, set())
    with pytest.raises(ZeroDivisionError):
        command("mine", "en.txt", "zh.txt", "--model", toy_folder, "--debug")


def test_debug_shows_where_an_error_comes_from(command: Command) -> None:
    plain = command("mine", "a", "b")
    assert plain.err == "xmine: a: no such file\n"
    debug = command("mine", "a", "b", "--debug")
    assert debug.err.startswith("Traceback")
    assert debug.err.endswith(plain.err)
    assert debug.code == plain.code == 1
    told = command("mine", "a", "b", "--drop", "ugly", "--debug").err
    assert told.startswith("Traceback") and told.count("hint: choose from") == 1
