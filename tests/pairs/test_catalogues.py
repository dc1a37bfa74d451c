"""Catalogues and zips of OPUS as pairs: read, with what is no pair counted, and never written."""

from pathlib import Path

import pytest

from tests.toys.trade import FILES, OPUS, zipped
from xmine.errors import FileError, OptionError, XmineWarning
from xmine.files.suffixes import kind_of
from xmine.pairs.io import check_pair_file, languages_of, read_pairs
from xmine.pairs.losses import Losses
from xmine.text.formats import KEYED
from xmine.text.inputs import keys_of, read_texts, text_input

PLIST = "<plist><dict>{}</dict></plist>"
PO = 'msgid ""\nmsgstr ""\n"Language: CODE\\n"\n\n{}'
XLIFF = '<unit id="{}"><source>s</source><target>{}</target></unit>'
QT = "<message><source>{}</source><translation>{}</translation></message>"
XCODE = ', "{}": {{"localizations": {{"CODE": {{"stringUnit": {{"value": "{}"}}}}}}}}'
# Names of an English file and a German one, what stands around the entries, and an entry.
ANDROID = "values/strings.xml", "values-de-rAT/strings.xml"
CATALOGUES = [
    ("en.json", "de.json", '{{"z": 1{}}}', ', "{}": "{}"'),
    ("app_en.arb", "app_de.arb", '{{"z": 1{}}}', ', "{}": "{}"'),
    (*ANDROID, "<resources>{}</resources>", '<string name="{}">{}</string>'),
    ("en.lproj/a.strings", "de-AT.lproj/a.strings", "{}", '"{}" = "{}";'),
    ("en.stringsdict", "de.stringsdict", PLIST, "<key>{}</key><string>{}</string>"),
    ("en.properties", "de.properties", "{}", "{}={}\n"),
    ("a.en.resx", "a.de.resx", "<r>{}</r>", '<data name="{}"><value>{}</value></data>'),
    ("en.ftl", "de.ftl", "{}", "{} = {}\n"),
    ("en.yml", "de.yml", "CODE:\n{}", " {}: {}\n"),
    ("fr.po", "fr.pot", PO, 'msgid "{}"\nmsgstr "{}"\n\n'),
    ("a.xlf", "b.xlf", '<xliff srcLang="fr" trgLang="CODE">{}</xliff>', XLIFF),
    ("a.ts", "b.ts", '<TS language="CODE">{}</TS>', QT),
    ("a.xcstrings", "b.xcstrings", '{{"sourceLanguage": "fr", "strings": {{"z": 1{}}}}}', XCODE),
]


WHY = 'marked translate="no"', "marked unfinished", "not translated"


def read(spec: str) -> tuple[object, list[tuple[str, str]], list[str]]:
    losses = Losses()
    pairs = [(pair.source, pair.target) for pair in read_pairs(spec, losses)]
    return languages_of(spec), pairs, losses.notes()


def test_a_message_and_its_translation_are_a_pair(tmp_path: Path) -> None:
    for name in ("a.po", "a.xlf", "a.mxliff", "a.ts", "a.xcstrings"):
        Path(tmp_path, name).write_bytes(FILES[name][0])
    assert read(f"{tmp_path}/a.po") == (
        ("und", "de_AT"),
        [("Bring rope", "Bringt Seile für alle"), ("%d boat", "%d Boot"), ("%d boats", "%d Boote")],
        ["1 unit marked fuzzy passed over", "1 unit not translated passed over"],
    )
    assert read(f"{tmp_path}/a.xlf") == (
        ("en", "de"),
        [("Hello {{name}}!", "Hallo {{name}}!"), ("A.", "Ä."), ("B.", "Be.")],
        ["1 unit not translated passed over"],
    )
    further = "1 unit in a further form passed over"
    assert read(f"{tmp_path}/a.ts") == (
        ("und", "de_DE"),
        [("Yes, he", "Ja, er"), ("%n files", "%n Dateien"), ("Go", "Los")],
        [further, "1 unit marked unfinished passed over"],
    )
    assert read(f"{tmp_path}/a.xcstrings") == (
        ("en", "de"),
        [("Open", "Offen"), ("n", "%d Dateien")],
        [further, *(f"1 unit {why} passed over" for why in WHY)],
    )
    assert read(f"{tmp_path}/a.mxliff")[:2] == (("en", "fr"), [("One two", "Un deux")])
    with pytest.warns(XmineWarning, match="a.po: 1 unit marked fuzzy passed over, 1 unit not"):
        assert len(list(read_pairs(tmp_path / "a.po"))) == 3
    assert languages_of(f"{tmp_path}/a.po:en,de") == ("en", "de")
    Path(tmp_path, "b.xlf").write_text('<xliff><file source-language="en-US"/></xliff>')
    assert languages_of(tmp_path / "b.xlf") == ("en-US", "und")
    assert read(f"{tmp_path}/a.xlf:de,en")[1][1] == ("Ä.", "A.")
    with pytest.raises(FileError, match="its languages are en and de, not en and fr"):
        read(f"{tmp_path}/a.xlf:en,fr")


SAID = 'm:confirmed="0"|approved="no"|mq:status="NotStarted"|state="new"|state="needs-translation"|'
SAID += 'state="needs-l10n"|state="needs-review-adaptation"|state-qualifier="mt-suggestion"|'
SAID += 'state="translated" state-qualifier="fuzzy-match"|state="initial"|'


@pytest.mark.parametrize("said", SAID.split("|"))
def test_a_translation_that_is_a_draft_is_none(tmp_path: Path, said: str) -> None:
    text = '<mrk mtype="seg" mid="1">{}</mrk>'.format
    draft = f"<source>Go</source><target {said}>Los</target>"
    if "initial" in said:
        draft = f"<segment {said}><source>Go</source><target>Los</target></segment>"
    elif not said:
        draft = f"<source>Go</source><seg-source>{text('Go')}</seg-source><target>{text('Los')}"
        draft += '</target><s:seg-defs><s:seg id="1" conf="Draft"/></s:seg-defs>'
    Path(tmp_path, "a.xlf").write_text(
        f'<xliff xmlns:m="m" xmlns:mq="q" xmlns:s="s"><unit>{draft}</unit><unit approved="yes">'
        '<source>Stop</source><target state="final">Halt</target></unit></xliff>'
    )
    noted = ["1 unit marked unfinished passed over"]
    assert read(f"{tmp_path}/a.xlf")[1:] == ([("Stop", "Halt")], noted)
    assert read_texts(tmp_path / "a.xlf") == ["Halt"]


def test_what_is_not_to_be_translated_is_left_out(tmp_path: Path) -> None:
    yes, no, unsaid = (
        f"<unit{said}><source>a</source><target>A</target></unit>"
        for said in (' translate="yes"', ' translate="no"', "")
    )
    inner = f'<group translate="no"><group>{unsaid}{yes}</group></group>'
    Path(tmp_path, "a.xlf").write_text(f"<xliff>{unsaid}{no}{inner}</xliff>")
    said = ['2 units marked translate="no" passed over']
    assert read(f"{tmp_path}/a.xlf")[1:] == ([("a", "A")] * 2, said)
    given = text_input(tmp_path / "a.xlf")
    assert list(given.texts()) == ["A", "A"]
    assert given.warnings == [f'{given.name}: left out: texts marked translate="no" (2)']


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ('Save<x id="1" ctype="lb"/>Cancel', "Save Cancel"),
        ('Save<ph id="1" type="fmt" subType="xlf:lb"/>Cancel', "Save Cancel"),
        ('Save<bx ctype="x-html-br"/><ex/>Cancel', "Save Cancel"),
        ('Save<x equiv-text="&lt;br/>"/>Can<x equiv-text="&lt;b>"/>cel', "Save Cancel"),
        ('Hi <x equiv-text="{{name}}"/>!', "Hi {{name}}!"),
        ("word<ph>[<sub>a note</sub>]</ph>s", "words"),
        ("word<sub>a note</sub>s", "words"),
    ],
)
def test_a_break_is_a_space_and_a_text_in_a_code_is_none_of_the_sentence(
    tmp_path: Path, inside: str, text: str
) -> None:
    Path(tmp_path, "a.xlf").write_text(f"<xliff><unit><source>{inside}</source></unit></xliff>")
    texts = read_texts(tmp_path / "a.xlf")
    assert texts == [text, *["a note"] * ("sub>" in inside)]


@pytest.mark.parametrize("row", CATALOGUES)
def test_two_catalogues_are_paired_by_key(tmp_path: Path, row: tuple[str, ...]) -> None:
    english = {"a": "One", "c": "Two", "x": "x"}
    for code, name, texts in (("en", row[0], english), ("de", row[1], {"c": "Zwei", "a": "Eins"})):
        Path(tmp_path, name).parent.mkdir(exist_ok=True)
        entries = "".join(row[3].format(key, text) for key, text in texts.items())
        Path(tmp_path, name).write_text(row[2].format(entries).replace("CODE", code))
    languages, pairs, notes = read(f"{tmp_path}/{row[0]},{tmp_path}/{row[1]}")
    assert pairs == [("One", "Eins"), ("Two", "Zwei")]
    assert notes[0] == "1 unit in one file only passed over"
    said = ("und" if "values" in row[0] else "en", "de-AT" if "AT" in row[1] else "de")
    assert languages == said
    Path(tmp_path, "it.json").write_text('{"c": "Due"}')
    assert read(f"{tmp_path}/{row[0]},{tmp_path}/it.json")[1] == [("Two", "Due")]


def test_every_kind_with_keys_is_paired_by_them() -> None:
    assert {kind_of(name) for row in CATALOGUES for name in row[:2]} == KEYED


def test_a_message_is_a_key_as_it_stands(tmp_path: Path) -> None:
    for name, keys in (("a.po", ["it.a"]), ("a.properties", ["a"])):
        Path(tmp_path, name).write_text(
            'msgid "it.a"\nmsgstr "b"\n' if "po" in name[-2:] else "it.a=b"
        )
        assert keys_of(text_input(tmp_path / name)) == keys


def test_a_file_without_translations_is_its_source(tmp_path: Path) -> None:
    for suffix, text in {
        ".po": '#, fuzzy\nmsgid "a"\nmsgstr "A"\n\nmsgid "b"\nmsgstr ""\n',
        ".xlf": "<xliff><unit><source>a</source><target state='new'>A</target></unit>"
        "<unit><source>b</source></unit></xliff>",
        ".ts": "<TS><message><source>a</source><translation type='unfinished'>A</translation>"
        "</message><message><source>b</source></message></TS>",
        ".xcstrings": '{"sourceLanguage": "en", "strings": {"a": {"localizations": {"de": {"strin'
        'gUnit": {"state": "needs_review", "value": "A"}}}}, "b": {}}}',
    }.items():
        Path(tmp_path, f"a{suffix}").write_text(text)
        given = text_input(f"{tmp_path}/a{suffix}")
        why = "fuzzy" if suffix == ".po" else "unfinished"
        assert list(given.texts()) == ["a", "b"]
        assert given.warnings == [f"{given.name}: left out: translations marked {why} (1)"]


def test_a_language_of_many_is_chosen(tmp_path: Path) -> None:
    unit = '{{"stringUnit": {{"state": "translated", "value": "{}"}}}}'.format
    path, units = tmp_path / "a.xcstrings", {"fr": unit("Un"), "de": unit("Eins")}
    inside = ", ".join(f'"{code}": {each}' for code, each in units.items())
    path.write_text(
        f'{{"sourceLanguage": "en", "strings": {{"One": {{"localizations": {{{inside}}}}}, '
        f'"Two": {{"localizations": {{"de": {unit("Zwei")}}}}}, '
        f'"3": {{"localizations": {{"en": {unit("Three")}}}}}}}}}'
    )
    assert [read_texts(f"{path}:{code}") for code in ("en", "de")] == [
        ["One", "Two", "Three"],  # a key without a text of the source is that text
        ["Eins", "Zwei"],
    ]
    assert text_input(f"{path}:fr").warnings == [f"{path}:fr: left out: texts not translated (2)"]
    assert read(f"{path}:en,de")[1] == [("One", "Eins"), ("Two", "Zwei")]
    assert read(f"{path}:de,fr")[1:] == ([("Eins", "Un")], ["1 unit not translated passed over"])
    assert read(f"{path}:fr,de")[1:] == ([("Un", "Eins")], ["1 unit in a further form passed over"])
    assert read(f"{path}:de,en")[1] == [("Eins", "One"), ("Zwei", "Two")]
    for given in (path, f"{path}:it"):
        with pytest.raises(FileError, match=r"a.xcstrings: in en, de, fr"):
            read_texts(given)
    for spec in (str(path), f"{path}:en,it"):
        with pytest.raises(FileError, match=r"a.xcstrings: (in|3 languages: )"):
            read(spec)


@pytest.mark.filterwarnings("ignore:.*a.ts. read as plain text")
def test_a_program_is_no_catalogue(tmp_path: Path) -> None:
    for name, text in {
        "a.ts": "const a = 1;\n",
        "c.ts": "<TS/>",
        "a.arb": "a\n",
        "a.en": "b\n",
    }.items():
        Path(tmp_path, name).write_text(text)
    assert [keys_of(text_input(tmp_path / name)) for name in ("a.ts", "a.arb")] == [None, None]
    texts = {"en": "b", "arb": "a", "ts": "const a = 1;"}  # of Tsonga
    for code in ("arb", "ts"):
        for pair in ("en", code), (code, "en"):
            spec = ",".join(f"{tmp_path}/a.{each}" for each in pair)
            assert read(spec)[:2] == (pair, [(texts[pair[0]], texts[pair[1]])])
            check_pair_file(spec, force=True)
    assert read_texts(tmp_path / "a.ts") == ["const a = 1;"]
    (told,) = text_input(tmp_path).warnings
    assert "a.ts: a program or settings" in told and "c.ts: there is no text in it" in told


def test_a_pattern_is_all_files_that_fit(tmp_path: Path) -> None:
    for name in ("b/de", "a/de", "a/fr"):
        Path(tmp_path, name).mkdir(parents=True)
        text = f'msgid ""\nmsgstr ""\n"Language: {name[2:]}\\n"\n\nmsgid "{name[0]}"\nmsgstr "X"\n'
        Path(tmp_path, name, "x.po").write_text(text)
    spec = f"{tmp_path}/**/de/*.po"
    assert read(spec)[:2] == (("und", "de"), [("a", "X"), ("b", "X")])
    assert [pair.origin for pair in read_pairs(spec)] == [f"{tmp_path}/{x}/de/x.po" for x in "ab"]
    Path(tmp_path, "a.tsv").touch()
    with pytest.raises(OptionError, match="input and output are the same file"):
        check_pair_file(f"{tmp_path}/a.tsv", force=True, source=f"{tmp_path}/*.tsv")


@pytest.mark.parametrize("codes", [("en", "de"), ("de-AT", "EN_gb"), ("zh-TW", "en-US")])
def test_files_of_a_pattern_have_one_direction(tmp_path: Path, codes: tuple[str, str]) -> None:
    one, other = codes
    named = {"a.tmx": (one, other), "b.tmx": (other[:2], one[:2]), "c.tmx": (one[:2], other)}
    for name, (source, target) in named.items():
        tuvs = (f'<tuv xml:lang="{code}"><seg>{code[:2].lower()}</seg></tuv>' for code in codes)
        head = f'<tmx version="1.4"><header srclang="{source}"/><body><tu>'
        Path(tmp_path, name).write_text(f"{head}{''.join(tuvs)}</tu></body></tmx>")
        assert target in codes or name == "b.tmx"
    plain = one[:2].lower(), other[:2].lower()
    spec = f"{tmp_path}/*.tmx"
    said = ["1 pair turned, whose files have the other direction"]
    assert read(spec) == (codes, [plain] * 3, said)
    assert read(f"{spec}:{plain[1]},{plain[0]}")[1:] == ([plain[::-1]] * 3, [])
    with pytest.raises(OptionError, match="input and output are the same file"):
        check_pair_file(f"{tmp_path}/a.tmx", force=True, source=f"{spec}:{one},{other}")
    Path(tmp_path, "a.xlf").write_text(
        f'<xliff><file source-language="{plain[0]}" target-language="fr"/><unit><source>x</source>'
        "<target>y</target></unit></xliff>"
    )
    assert read(f"{tmp_path}/*.*")[2][0] == "1 pair in other languages than those of most files"


def test_a_zip_of_opus_has_the_order_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "o.zip"
    path.write_bytes(OPUS)
    assert read(str(path)) == (("en", "de"), [("One", "Eins"), ("Two", "Zwei")], [])
    assert read(f"{path}:de,en") == (("de", "en"), [("Eins", "One"), ("Zwei", "Two")], [])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"x.en": "One\nTwo\n", "x.de": "Eins\n"}, "o.zip: x.en has 2 lines, .*o.zip: x.de 1"),
        ({"x.en": "One\nTwo\n", "x.de": b"Eins\n\xff\n"}, "o.zip: x.de:2: not UTF-8"),
        ({"x.en": b"x" * (1 << 24), "x.de": b"x"}, "o.zip: x.en:1: a line of 16,"),
        ({"x.en": "One\n", "y.de": "Eins\n", "x.xml": ""}, "o.zip: no two files in it that are"),
        ({"x.en": "One\n", "x.de": "Eins\n", "x.fr": "Un\n"}, "o.zip: no two files in it that are"),
    ],
)
def test_a_wrong_zip_is_refused(
    tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    Path(tmp_path, "o.zip").write_bytes(zipped(files))
    with pytest.raises(FileError, match=message):
        list(read_pairs(tmp_path / "o.zip"))
    Path(tmp_path, "o.zip").write_bytes(OPUS[:-30])
    with pytest.raises(FileError, match=r"o.zip: a broken archive"):
        list(read_pairs(tmp_path / "o.zip"))


def test_what_is_no_pair_is_refused(tmp_path: Path) -> None:
    for name, text in (
        ("a.json", '{"a": "b"}'),
        ("b.json", '{"menu": {"a": "b"}}'),
        ("a.md", "# a"),
    ):
        Path(tmp_path, name).write_text(text)
    with pytest.raises(FileError, match=r"a.json and .*b.json have no key together"):
        list(read_pairs(f"{tmp_path}/a.json,{tmp_path}/b.json"))
    with pytest.raises(FileError, match="texts of one language, not a format of pairs"):
        list(read_pairs(tmp_path / "a.md"))


@pytest.mark.parametrize("path", ["a.ts", "a.xlf", "a.zip", "a.json,b.json", "a.arb,b.arb"])
def test_no_catalogue_is_written(path: str) -> None:
    with pytest.raises(OptionError, match=f"{path}: this format is read, not written"):
        check_pair_file(path, force=False)
