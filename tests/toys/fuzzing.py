"""Files that are nearly right, read by everything that reads a user's file: only XmineError comes.

Every input follows from the name of a reader and a number.
"""

import bz2
import dataclasses
import gzip
import json
import lzma
import random
import traceback
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import zstandard

from tests.toys.trade import FILES, OPUS
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.vector_files import read_vectors, unit_rows
from xmine.errors import OptionError, XmineError, XmineWarning
from xmine.mining.options import MiningOptions
from xmine.options import check_names, load_toml
from xmine.pairs.io import languages_of, read_pairs
from xmine.pairs.judgements import HEADER, read_from
from xmine.pairs.known import read_known
from xmine.pairs.losses import Losses
from xmine.run.steps import Steps
from xmine.text.inputs import read_texts, text_input
from xmine.text.sentences import sentence_table

# What parsers count, nest, escape or allocate by.
_TOKENS = [b"\x00", b"\xff", b"\xff" * 8, b"\x7f\xff\xff\xff", b"\n", b"\r", b"\t", b'"']
_TOKENS += [b"\\ud800"]
_TOKENS += [b"-1", b"1e999", b"9" * 30, b"9" * 5000, b"nan", b"null", b"[]", b"{}", b"\xe2\x80\xae"]
_TOKENS += [b"\x1b[31m", b"\xc2\x9b", b"[" * 3000, b'{"a":' * 3000, b"<a>" * 3000, b"&#0;", b"L"]
_VALUES: list[Any] = [None, True, 0, -1, 1, 2**31, 10**30, 0.5, float("nan"), "", "x", "../x"]
_VALUES += ["\x9b"]
_VALUES += ["\ud800", "a\nb", [], [1], ["x"], [[]], {}, {"x": 1}, {"x": None}, [None, 3, {}]]
_VALUES += [f"torch.nn.modules.activation.{name}" for name in ("GLU", "MultiheadAttention", "nn")]
_VALUES += [f"sentence_transformers.models.{name}" for name in ("Dense", "Pooling", "Asym", "")]
# What a terminal obeys or hides, and a line break that forges a line of its own.
_UNSAYABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
_LINES = [
    ("Snow fell on the old bridge.", "\u96ea\u843d\u5728\u65e7\u6865\u4e0a\u3002"),
    ("Two boats are waiting.", "\u4e24\u6761\u8239\u5728\u7b49\u3002"),
    ("The tea is cold & sweet.", "\u8336\u51b7\u4e86\uff0c\u5f88\u751c\u3002"),
]
Reader = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file.

    Attributes:
        name: of the reader, for reports.
        file: its path below the folder of an input.
        right: the bytes of a right file.
        read: reads the file, as far as a command would.
        beside: other files of the folder, which stay right.
        pack: what the bytes are packed with after they were changed.
    """

    name: str
    file: str
    right: bytes
    read: Reader
    beside: dict[str, bytes]
    pack: Callable[[bytes], bytes] = bytes


def mutated(right: bytes, chance: random.Random, *, is_json: bool = False) -> bytes:
    """Change some bytes, or a value of JSON: most of the file stays, so that parsers come far."""
    if is_json and chance.random() < 0.6:
        return _other_value(right, chance)
    data = bytearray(right)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        at = chance.randrange(len(data) + 1)
        if chance.random() < 0.5:  # headers and footers decide most
            at = chance.choice((min(at, chance.randrange(160)), max(at, len(data) - 200)))
        size = chance.choice((1, 1, 2, 4, 8, 64))
        match chance.randrange(8):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 2:
                data[at:at] = chance.choice(_TOKENS)
            case 3:
                data[at : at + size] = chance.choice(_TOKENS)
            case 4:
                del data[at : at + size]
            case 5:
                data[at : at + size] = bytes(size)
            case 6:
                other = chance.randrange(len(data) + 1)
                data[at:at] = data[other : other + 8 * size]
            case _ if chance.random() < 0.2:
                del data[at:]
    return bytes(data)


def _other_value(right: bytes, chance: random.Random) -> bytes:
    """Put something else in the place of a value of JSON."""
    whole = {"whole": json.loads(right)}
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [whole]
    while waiting:
        inside = waiting.pop()
        names = inside if isinstance(inside, dict) else range(len(inside))
        places += [(inside, name) for name in names]
        waiting += [inside[name] for name in names if isinstance(inside[name], (dict, list))]
    inside, name = chance.choice(places)
    inside[name] = chance.choice(_VALUES)
    return json.dumps(whole["whole"]).encode()


def _texts(given: str | Path) -> None:
    _ = text_input(given).survey
    read_texts(given)


def _pairs(spec: str | Path) -> None:
    languages_of(spec)
    for pair in read_pairs(spec, Losses()):
        assert isinstance(pair.source, str)


def _vectors(path: Path) -> None:
    vectors = read_vectors(path)
    table = sentence_table(path.name, [str(row) for row in range(min(len(vectors), 50))])
    unit_rows(vectors, table, Steps(path.with_name("units")))


def _encoder(path: Path) -> None:
    folder = next(each for each in (path, *path.parents) if (each / "README.md").exists())
    encoder = SentenceEncoder.load(folder)
    encoder.describe()
    encoder.encode(["Snow fell.", "\u96ea", "", "x" * 300])


def _verdicts(path: Path) -> None:
    read_known(path)
    read_from(path, 0)


def _options(path: Path) -> None:
    values = load_toml(path)
    check_names(values, {field.name for field in dataclasses.fields(MiningOptions)}, path)
    try:
        MiningOptions(**values)
    except OptionError as error:  # the command names the file
        raise OptionError(f"{path}: {error.message}", error.hint) from error


def kinds(chosen: Iterable[str] = ()) -> list[Kind]:
    """Make every kind of file, or those that are chosen by name."""
    made = {kind.name: kind for kind in _kinds()}
    return [made[name] for name in chosen] if chosen else list(made.values())


def _kinds() -> Iterator[Kind]:
    english, chinese = ("\n".join(side).encode() + b"\n" for side in zip(*_LINES, strict=True))
    plain = "".join(f"{a}\t{b}\n" for a, b in _LINES).encode()
    names = "score\tsource\ttarget\tsource_line\ttarget_line\tcosine\tprob\tflags\n"
    mined = names + "".join(
        f"1.25\t{a}\t{b}\t{n}\t{n}\t0.9\t0.5\tcopy\n" for n, (a, b) in _numbered()
    )
    scored = "".join(f"1.{n}\t{a}\t{b}\n" for n, (a, b) in _numbered())
    objects = "".join(
        json.dumps({"source": a, "target": b, "score": 1.5}) + "\n" for a, b in _LINES
    )
    nested = "".join(json.dumps({"translation": {"en": a, "zh": b}}) + "\n" for a, b in _LINES)
    units = "".join(
        f'<tu><prop type="score">1.5</prop><tuv xml:lang="en"><seg>{a.replace("&", "&amp;")}</seg>'
        f'</tuv><tuv xml:lang="zh"><seg>{b}<bpt i="1">x</bpt></seg></tuv></tu>\n'
        for a, b in _LINES
    )
    head = '<?xml version="1.0"?>\n<tmx version="1.4"><header srclang="en"/>'
    memory = f"{head}<body>{units}</body></tmx>"
    yield Kind("text", "t.txt", english, _texts, {})
    yield Kind("text .tsv:2", "t.tsv", plain, lambda path: _texts(f"{path}:2"), {})
    yield Kind("text .jsonl:source", "t.jsonl", objects.encode(), _field("source"), {})
    yield Kind("pairs .tsv, plain", "p.tsv", plain, _pairs, {})
    yield Kind("pairs .tsv, mined", "p.tsv", mined.encode(), _pairs, {})
    yield Kind("pairs .tsv, scored", "p.tsv", scored.encode(), _pairs, {})
    yield Kind("pairs .jsonl", "p.jsonl", objects.encode(), _pairs, {})
    yield Kind("pairs .jsonl, translation", "p.jsonl", nested.encode(), _pairs, {})
    yield Kind("pairs .tmx", "p.tmx", memory.encode(), _pairs, {})
    moses: Reader = lambda path: _pairs(f"{path},{path.with_suffix('.zh')}")  # noqa: E731
    yield Kind("pairs, Moses", "p.en", english, moses, {"p.zh": chinese})
    for name, (data, _) in FILES.items():
        yield Kind(f"text {name}", name, data, _texts, {})
    for name in ("a.po", "a.xlf"):
        yield Kind(f"pairs {name}", name, FILES[name][0], _pairs, {})
    yield Kind("pairs .zip", "o.zip", OPUS, _pairs, {})
    for suffix, pack in _packers():
        yield Kind(f"text .{suffix}", f"t.txt.{suffix}", pack(english), _texts, {})
        yield Kind(f"pairs .tsv in .{suffix}", f"p.tsv.{suffix}", plain, _pairs, {}, pack)
    for compression in ("uncompressed", "zstd", "snappy"):
        yield Kind(f"text .parquet, {compression}", "t.parquet", _parquet(compression), _column, {})
        yield Kind(f"pairs .parquet, {compression}", "p.parquet", _parquet(compression), _pairs, {})
    packed = _parquet("uncompressed")
    yield Kind("pairs .parquet in .gz", "p.parquet.gz", packed, _pairs, {}, gzip.compress)
    for name in ("float16", "float32"):
        yield Kind(f"vectors .npy, {name}", "v.npy", _matrix(name), _vectors, {})
    seeds = b"1\t2\n3\t1\t1\n2\t2\t0\n12\t7\n"
    yield Kind("known pairs", "seeds.tsv", seeds, read_known, {})
    verdicts = b"1\t2\t\t\taccept\tann\t0a1b2c3d\t2026-01-02T03:04:05Z\n"
    verdicts += b"3\t4\t5\t6\tunsure\tbob\t0a1b2c3e\t2026-01-02T03:04:05Z\n"
    yield Kind("judgements", "j.tsv", HEADER + verdicts, _verdicts, {})
    options = b'margin = "ratio"\nneighborhood = 4\ncache = true\n'
    yield Kind("options .toml", "o.toml", options, _options, {})
    yield from _encoder_kinds()


def _numbered() -> Iterator[tuple[int, tuple[str, str]]]:
    return enumerate(_LINES, start=1)


def _field(name: str) -> Reader:
    return lambda path: _texts(f"{path}:{name}")


def _column(path: Path) -> None:
    _texts(f"{path}:source")


def _packers() -> list[tuple[str, Callable[[bytes], bytes]]]:
    return [
        ("gz", gzip.compress),
        ("xz", lzma.compress),
        ("zst", lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data)),
        ("bz2", bz2.compress),
        ("zip", _zipped),
    ]


def _zipped(data: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("inside.txt", data)
    return out.getvalue()


def _parquet(compression: Any) -> bytes:
    sources, targets = zip(*_LINES, strict=True)
    columns = {"source": sources, "target": targets, "source_line": (1, 2, 3)}
    columns |= {"score": (1.5, 1.4, None), "flags": ("copy", None, "")}
    table = pl.DataFrame({name: values * 9 for name, values in columns.items()})
    out = BytesIO()
    table.write_parquet(
        out, compression=compression, row_group_size=9, metadata={"languages": "en,zh"}
    )
    return out.getvalue()


def _matrix(name: str) -> bytes:
    out = BytesIO()
    np.save(out, np.random.default_rng(1).standard_normal((20, 8)).astype(name))
    return out.getvalue()


def _encoder_kinds() -> Iterator[Kind]:
    """Encoders with few pieces: loading the whole one takes 30 ms, and most bytes are numbers."""
    from safetensors.numpy import save
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {"[UNK]": 0, "snow": 1, "fell": 2, "\u96ea": 3}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    rows = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
    theirs = {
        "modules.json": _modules(("StaticEmbedding", ""), ("Normalize", "1_Normalize")),
        "tokenizer.json": tokenizer.to_str().encode(),
        "model.safetensors": save({"embedding.weight": rows}),
        "1_Normalize/config.json": b'{"module_input_name": "sentence_embedding"}',
        "config_sentence_transformers.json": b'{"prompts": {"query": "query: "}, '
        b'"default_prompt_name": null, "similarity_fn_name": "cosine", "truncate_dim": 4}',
        "xmine.json": b'{"languages": ["en", "zh"], "method": "none"}',
        "README.md": b"---\nlanguage:\n- en\n- zh\n---\n# A toy\n",
    }
    for file, right in theirs.items():
        beside = {name: data for name, data in theirs.items() if name != file}
        yield Kind(f"encoder, {file}", file, right, _encoder, beside)
    without = {name: data for name, data in theirs.items() if name != "model.safetensors"}
    heads = [("StaticEmbedding", ""), ("Dense", "1_Dense"), ("LayerNorm", "2_LayerNorm")]
    deep = {
        **theirs,
        "modules.json": _modules(*heads),
        "1_Dense/config.json": b'{"in_features": 8, "out_features": 4, "bias": false, '
        b'"activation_function": "torch.nn.modules.activation.Tanh"}',
        "1_Dense/model.safetensors": save({"linear.weight": np.ones((4, 8), np.float32)}),
        "2_LayerNorm/config.json": b'{"dimension": 4}',
        "2_LayerNorm/model.safetensors": save(
            {f"norm.{name}": np.ones(4, np.float32) for name in ("weight", "bias")}
        ),
    }
    for file in ("1_Dense/config.json", "1_Dense/model.safetensors", "2_LayerNorm/config.json"):
        beside = {name: data for name, data in deep.items() if name != file}
        yield Kind(f"encoder, {file}", file, deep[file], _encoder, beside)
    vectors = (np.ones((4, 8), np.int8), np.ones(4, np.float32), np.zeros(4, np.int64))
    mapped = save(dict(zip(("embeddings", "weights", "mapping"), vectors, strict=True)))
    yield Kind("encoder, int8 weights", "model.safetensors", mapped, _encoder, without)
    pieces, count = _pieces()
    ours = {
        **without,
        "model.safetensors": save({"embedding.weight": np.ones((count, 8), np.float32)}),
    }
    yield Kind("encoder, sentencepiece.model", "sentencepiece.model", pieces, _encoder, ours)


def _modules(*entries: tuple[str, str]) -> bytes:
    return json.dumps(
        [{"path": place, "type": f"sentence_transformers.models.{kind}"} for kind, place in entries]
    ).encode()


def _pieces() -> tuple[bytes, int]:
    """Make a small sentencepiece model, and count its pieces."""
    import sentencepiece

    out = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for pair in _LINES for line in pair] * 9),
        model_writer=out,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    model = out.getvalue()
    return model, int(sentencepiece.SentencePieceProcessor(model_proto=model).get_piece_size())


def findings(kind: Kind, numbers: range, folder: Path) -> Iterator[str]:
    """Read some inputs of a kind, by their numbers, in a folder; give what is wrong of each."""
    folder /= "input"
    path = folder / kind.file
    for name, data in {**kind.beside, kind.file: b""}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    for number in numbers:
        chance = random.Random(f"{kind.name} {number}")
        is_json = kind.file.endswith(".json")
        path.write_bytes(kind.pack(mutated(kind.right, chance, is_json=is_json)))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", XmineWarning)
                kind.read(path)
        except XmineError as error:
            said = error.message + error.hint.replace("\n", " ").replace("\t", " ")
            if wrong := [each for each in said if unicodedata.category(each) in _UNSAYABLE]:
                yield f"{number}: control characters in a message: {wrong[:3]!r}"
            elif Path(kind.file).name not in error.message and "input" not in error.message:
                yield f"{number}: no file in the message: {error.message}"
        except BaseException as error:  # that of Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            last = traceback.extract_tb(error.__traceback__)
            ours = [each for each in last if "/xmine/" in each.filename] or list(last)
            place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
            yield f"{number}: {type(error).__name__} at {place}: {str(error)[:100]!r}"
