"""Files that are nearly right: whoever reads them raises XmineError alone, and says where."""

from pathlib import Path

import pytest

from tests.toys.fuzzing import Kind, findings, kinds
from xmine.encoders.vector_files import read_vectors
from xmine.errors import EncoderError, FileError, XmineError
from xmine.options import load_toml

NAMES = [kind.name for kind in kinds()]
# Loading torch for them takes longer than everything else here.
SLOW = [name for name in NAMES if "Dense" in name or "LayerNorm" in name]


def test_right_files_are_read(tmp_path: Path) -> None:
    """Else everything behind the first lines of a reader would go unseen."""
    for number, kind in enumerate(kinds()):
        for name, data in {**kind.beside, kind.file: kind.pack(kind.right)}.items():
            path = tmp_path / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        path = tmp_path / str(number) / kind.file
        if kind.file.endswith(("bz2", ".txt.zip", ".tsv.zip")):
            with pytest.raises(FileError, match=r"archive|no two files"):
                kind.read(path)
        elif kind.name not in SLOW:
            kind.read(path)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SLOW])
def test_broken_files_raise_our_errors_alone(name: str, tmp_path: Path) -> None:
    assert list(findings(kinds([name])[0], range(30), tmp_path)) == []


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_100_000_broken_files_raise_our_errors_alone(name: str, tmp_path: Path) -> None:
    assert list(findings(kinds([name])[0], range(-(-100_000 // len(NAMES))), tmp_path)) == []


def test_a_reader_that_raises_something_else_would_be_seen(tmp_path: Path) -> None:
    def raising(error: BaseException) -> list[str]:
        def read(path: Path) -> None:
            raise error

        return list(findings(Kind("one", "f.txt", b"right", read, {}), range(1), tmp_path))

    assert "ValueError" in raising(ValueError("f.txt"))[0]
    assert "no file" in raising(FileError("a broken file"))[0]
    assert raising(FileError("f.txt: broken")) == []
    assert raising(FileError("f.txt: \x1b[31m\u202e")) == []


def test_no_message_carries_what_a_terminal_obeys() -> None:
    error = XmineError("f\x1b[31m\n\x9b\t\u202e: broken", "cat f\x07\nor f\u200b\t2")
    assert error.message == str(error) == "f␛[31m␊�␉⇄: broken"
    assert error.hint == "cat f␇\nor f␢\t2"


def test_headers_that_numpy_cannot_parse_are_refused(tmp_path: Path) -> None:
    """Brackets without end are an error of Python's tokenizer; `20L` is a warning of numpy."""
    for shape in (b"(20, 8", b"(20L, 8L)", b"(20, 8))", b"(((((("):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + b", }"
        header = header.ljust(117) + b"\n"
        path = tmp_path / "v.npy"
        path.write_bytes(b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header + bytes(640))
        with pytest.raises(FileError, match=r"v\.npy: not a \.npy file") as caught:
            read_vectors(path)
        assert "numpy.save" in caught.value.hint


@pytest.mark.parametrize("text", ["a = " + "9" * 5000, "a = " + "[" * 5000, "a ="])
def test_toml_beyond_the_limits_of_python_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "o.toml").write_text(text)
    with pytest.raises(FileError, match=r"o\.toml: not a TOML file"):
        load_toml(tmp_path / "o.toml")


@pytest.mark.parametrize(
    ("name", "right", "wrong", "said"),
    [
        ("encoder, 1_Dense/config.json", b".Tanh", b".GLU", "do not fit each other"),
        ("encoder, 1_Dense/config.json", b".Tanh", b".MultiheadAttention", "cannot be honoured"),
        ("encoder, 2_LayerNorm/config.json", b"4", b"99999999999", "size mismatch"),
        ("encoder, config_sentence_transformers.json", b": 4", b": -1", "truncate_dim is -1"),
        ("encoder, config_sentence_transformers.json", b": 4", b": true", "truncate_dim is True"),
        ("encoder, int8 weights", bytes(32), b"\xff" * 32, "'mapping' names rows"),
        ("encoder, tokenizer.json", b'"snow":1', b'"snow":2147483648', "vectors for"),
        ("encoder, tokenizer.json", b'"[UNK]":', b'"[XXX]":', "cannot cut a text"),
    ],
)
def test_modules_that_do_not_fit_are_refused(
    name: str, right: bytes, wrong: bytes, said: str, tmp_path: Path
) -> None:
    (kind,) = kinds([name])
    assert right in kind.right
    for file, data in {**kind.beside, kind.file: kind.right.replace(right, wrong)}.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(data)
    with pytest.raises(EncoderError, match=said):
        kind.read(tmp_path / kind.file)
