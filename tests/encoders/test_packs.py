"""An encoder that reads further languages with packs, and as before without."""

import json
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zstandard
from safetensors.numpy import load, save

from xmine import native
from xmine.encoders import letter_grams
from xmine.encoders.encoder import SentenceEncoder, encoder_digest
from xmine.encoders.letter_grams import LetterGrams, frequent_grams
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.packs import PACKS, Pack
from xmine.encoders.pair import with_packs
from xmine.encoders.recipe import Recipe
from xmine.encoders.table import Table
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import EncoderError
from xmine.mining.again import made_of
from xmine.mining.options import MiningOptions
from xmine.text.inputs import text_input
from xmine.trainer.data.vocabulary import more_pieces

SCRIPTS = [
    *("Straße STRASSE ẞ İstanbul ıI", "naïve NAÏVE e\u0301tude", "Ωμέγα ΩΜΈΓΑ τέλος", "Ёлка щИ"),
    *("ภาษาไทยยากนิดหน่อย", "हिन्दी में नमस्ते", "한국어는 쉽다", "漢字かな交じり文", "😀👍🏽 x😀y"),
    *("", " ", "a", "--", "don't 3.14 a-b", "the other mother", "\ud800 half"),
]  # fmt: skip
SIZES = range(2, 5)
TEXTS = {"sv": ["bade bako mader", "goso lunek bade"], "el": ["βαδε βακο", "γοσο λυ νε βαδε"]}


def as_read(text: str, letters: set[str]) -> str:
    """Put the small letter for each letter, and the edge of a word for everything else."""
    small = {x.upper(): x for x in letters if len(x.upper()) == 1 and x.upper().lower() == x}
    return "".join(x if x in letters else small.get(x, " ") for x in f" {text} ")


def twin_found(grams: list[str], texts: list[str]) -> list[list[int]]:
    letters, numbers = {*"".join(grams)} - {" "}, {gram: at for at, gram in enumerate(grams)}
    sizes = sorted({len(gram) for gram in grams})
    found = []
    for text in (as_read(text, letters) for text in texts):
        places = ((at, at + n) for at in range(len(text)) for n in sizes if at + n <= len(text))
        found.append([numbers[text[a:b]] for a, b in places if text[a:b] in numbers])
    return found


def twin_frequent(texts: list[str], sizes: range, least: int, most: int) -> list[str]:
    letters = {x.lower() for x in "".join(texts) if unicodedata.category(x)[0] in "LM"}
    letters, counts = {x for x in letters if len(x) == 1}, Counter[str]()
    for text in (as_read(text, letters) for text in texts):
        for size in sizes:
            for gram in (text[at : at + size] for at in range(len(text) - size + 1)):
                counts[gram] += " " not in gram[1:-1] and gram != "  "
    return [x for x, n in sorted(counts.items(), key=lambda x: (-x[1], x[0])) if n >= least][:most]


@pytest.mark.parametrize("bits", [18, 9])  # few slots: most n-grams want one that is taken
@pytest.mark.parametrize("sizes", [range(2, 5), range(2, 3), range(3, 5)])
def test_letter_grams_are_those_of_plain_python(
    sizes: range, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letter_grams, "_SLOTS", bits)
    grams = frequent_grams(SCRIPTS, sizes, 1, 10_000)
    assert grams == twin_frequent(SCRIPTS, sizes, 1, 10_000) and len(grams) > 60
    assert frequent_grams(SCRIPTS, sizes, 2, 9) == twin_frequent(SCRIPTS, sizes, 2, 9)
    grams = grams[::2]
    for texts in (SCRIPTS, SCRIPTS[:1], [""], [], SCRIPTS * 320):
        ids, starts = LetterGrams(grams).find(texts)
        twin = twin_found(grams, texts[: len(SCRIPTS)]) * max(1, len(texts) // len(SCRIPTS))
        assert [part.tolist() for part in np.split(ids, starts[1:-1])] == (twin or [[]])
    assert LetterGrams([]).find(["a", ""])[1].tolist() == [0, 0, 0]


@pytest.fixture(scope="module")
def encoder(
    toy_static: StaticEmbedding, tmp_path_factory: pytest.TempPathFactory
) -> SentenceEncoder:
    """A folder with packs of two languages, one of them with pieces of its own."""
    folder, known = tmp_path_factory.mktemp("packed") / "encoder", toy_static.pieces
    assert isinstance(known, Vocabulary)
    body = StaticEmbedding(known, Table.rounded(toy_static.vectors))
    SentenceEncoder(body, facts=EncoderFacts(("en", "zh"), "test")).save(folder)
    (folder / PACKS).mkdir()
    for seed, (code, texts) in enumerate(TEXTS.items()):
        told = {"language": code, "encoder": encoder_digest(SentenceEncoder.load(folder))}
        random, changed = np.random.default_rng(seed), np.arange(4, 40 + seed, 2, dtype=np.int32)
        pieces = more_pieces(known, texts * 9, 24) if code == "el" else b""
        new = len(Vocabulary(known.model + pieces, "")) - len(known)
        grams = frequent_grams(texts, SIZES, 1, 50)
        rows = random.standard_normal((len(changed) + new + len(grams), 32)).astype(np.float32)
        table = Table.rounded(rows, 3)
        Pack(told, pieces, changed, grams, table).write(folder / PACKS / f"{code}.pack")
    return SentenceEncoder.load(folder)


def test_a_pack_is_read_as_it_was_written(encoder: SentenceEncoder, tmp_path: Path) -> None:
    for x, path in encoder.packs.items():
        pack = Pack.read(path)
        pack.write(tmp_path / path.name)
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
        assert (pack.facts["language"], pack.grams) == (x, frequent_grams(TEXTS[x], SIZES, 1, 50))
        assert bool(pack.pieces) == (x == "el") and pack.changed[:2].tolist() == [4, 6]


def test_a_pack_that_does_not_fit_is_refused(encoder: SentenceEncoder, tmp_path: Path) -> None:
    whole, path = encoder.packs["sv"].read_bytes(), tmp_path / "sv.pack"
    flipped = ([*whole[:at], whole[at] ^ 1, *whole[at + 1 :]] for at in range(0, len(whole), 97))
    broken = map(bytes, (b"", b"x", whole[:99], whole[:-1], *flipped))
    cases = [(content, "not a whole pack", "") for content in broken]
    for form, told, hint in ((2, "a later version", "newer"), (1, "another encoder", "make it")):
        facts = json.dumps({"format": form, "language": "sv", "encoder": "other"})
        made = save(load(zstandard.ZstdDecompressor().decompress(whole)), {"pack": facts})
        cases.append((zstandard.ZstdCompressor(write_checksum=True).compress(made), told, hint))
    pack = Pack.read(encoder.packs["sv"])
    changed = {"changed": pack.changed.astype(np.int64)}, {"changed": pack.changed + np.int32(9**7)}
    for wrong in (*changed, {"grams": pack.grams[1:]}):
        replace(pack, **wrong).write(path)
        cases.append((path.read_bytes(), "its (arrays do not fit|rows are not)", ""))
    for content, told, hint in cases:
        path.write_bytes(content)
        with pytest.raises(EncoderError, match=rf"sv.*{told}") as raised:
            replace(encoder, packs={"sv": path}).reading("sv")
        assert hint in (raised.value.hint or "")


def test_packs_change_what_their_language_reads_and_nothing_else(
    encoder: SentenceEncoder, texts: list[str]
) -> None:
    assert encoder.facts.languages == ("en", "zh", "el", "sv")
    texts = [*texts, *TEXTS["sv"], *TEXTS["el"], "", "☃ ψ"]
    before = encoder.encode(texts).tobytes()
    assert encoder.reading("en") is encoder.reading("de") is encoder.reading("") is encoder
    english, swedish, greek = encoder.readers(["en", "sv", "el"])
    assert english.encode(texts).tobytes() == before
    for code, reader in (("sv", swedish), ("el", greek)):
        alone = encoder.reading(code)
        assert encoder.reading(f"{code}-XX") is alone is not reader
        one = b"".join(alone.encode([text]).tobytes() for text in texts)
        assert reader.encode(texts).tobytes() == alone.encode(texts).tobytes() == one != before
        found = []
        for body in (alone.body, reader.body):
            assert isinstance(body, StaticEmbedding)
            ids, sizes = body.tokens(texts)
            shown = body.as_tokens.vectors(ids[:, 0]), body.token_vectors(ids[:, 0])[ids[:, 0]]
            found.append([sizes.tolist(), *(each.tobytes() for each in shown)])
            assert sum(map(len, map(body.spans, texts))) == len(ids)
        assert found[0] == found[1]
    assert with_packs(encoder, "sv", "el").shares_tokens


def test_letters_that_a_pack_replaces_are_read_as_others(
    encoder: SentenceEncoder, tmp_path: Path, texts: list[str]
) -> None:
    """One letter into two: a span has each letter that a piece has a part of."""
    letters, plain = {"љ": "ad", "б": "b", "ж": "o l", "ø": ""}, encoder.reading("sv")
    pack = Pack.read(encoder.packs["sv"])
    replace(pack, facts={**pack.facts, "letters": letters}).write(tmp_path / "sv.pack")
    reader = replace(encoder, packs={"sv": tmp_path / "sv.pack"}).reading("sv")
    read = [*TEXTS["sv"], "adadad", " goso lad", *texts]
    written = read
    for letter, other in letters.items():
        written = [text.replace(other, letter) if other else f"ø{text}ø" for text in written]
    assert reader.encode(written).tobytes() == plain.encode(read).tobytes()
    inside = 0
    for text, same in zip(written, read, strict=True):
        sizes = [len(letters.get(letter, letter)) for letter in text]
        for (a, b), (c, d) in zip(reader.body.spans(text), plain.body.spans(same), strict=True):
            before, after = sum(sizes[:a]), sum(sizes[:b])
            assert before <= c < before + sizes[a] and after - sizes[b - 1] < d <= after
            inside += before < c or d < after
    assert inside > 5


def test_every_kernel_gives_the_vectors_of_numpy(
    encoder: SentenceEncoder, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = encoder.readers(["sv", "el", "en"])
    kernels, found = native.kernels, []
    for name in [*(kernels.sets() if kernels else []), ""]:
        monkeypatch.setattr(native, "kernels", kernels if name else None)
        _ = name and kernels.choose(name)
        found.append([each.encode([*texts, *TEXTS["el"]]).tobytes() for each in readers])
    _ = kernels and kernels.choose(kernels.sets()[0])
    assert all(each == found[0] for each in found)


def test_another_pack_is_another_encoder_and_run(encoder: SentenceEncoder, tmp_path: Path) -> None:
    swedish = encoder.reading("sv")
    for view in (swedish, *encoder.readers(["sv", "el", "en"])):
        recipe = Recipe.of(view)
        assert recipe and (again := recipe.load()).reads == view.reads
        assert again.encode(TEXTS["sv"]).tobytes() == view.encode(TEXTS["sv"]).tobytes()
    assert swedish.fingerprint() != encoder.fingerprint()
    encoder.save(copy := tmp_path / "copy")
    encoder.save(copy)  # over one that has packs
    again = SentenceEncoder.load(copy)
    assert again.reading("sv").fingerprint() == swedish.fingerprint()
    (tmp_path / "text").write_text("bade\n")
    inputs = (text_input(str(tmp_path / "text")),) * 2
    mark = made_of(inputs, MiningOptions(), [], [str(copy)])
    assert mark == made_of(inputs, MiningOptions(), [], [str(copy)])
    pack = Pack.read(again.packs["sv"])
    replace(pack, facts={**pack.facts, "seed": 2}).write(again.packs["sv"])
    assert mark != made_of(inputs, MiningOptions(), [], [str(copy)])
    later = SentenceEncoder.load(copy)
    assert later.reading("sv").fingerprint() != swedish.fingerprint()
    assert later.reading("el").fingerprint() == encoder.reading("el").fingerprint()
    assert later.fingerprint() == encoder.fingerprint()
    assert isinstance(later.body, StaticEmbedding)
    later.body = StaticEmbedding(later.body.pieces, Table.rounded(later.body.vectors * 2 + 1))
    later.save(tmp_path / "changed")  # its packs fit it no more
    assert not (tmp_path / "changed" / PACKS).exists()
