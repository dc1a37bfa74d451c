"""The files of an encoder besides its weights: languages, method, prompts, card."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xmine.encoders.fingerprint import FACTS_FILE, WITHOUT_EFFECT, Source, list_files
from xmine.encoders.layout import read_json, setting, write_json
from xmine.errors import EncoderError, FileError, OptionError

SETTINGS_FILE = "config_sentence_transformers.json"
CARD_FILE = "README.md"

# The lowest version that opens int8 rows; 5.0 to 6.1 were tried and fail on them.
_SENTENCE_TRANSFORMERS = "6.2.0"


@dataclass(frozen=True, slots=True)
class EncoderFacts:
    """The languages of an encoder and how it was trained.

    Attributes:
        languages: ISO 639-1 codes; empty if unknown.
        method: the training method.
    """

    languages: tuple[str, ...] = ()
    method: str = ""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """Prompts before the modules, truncation behind them.

    Attributes:
        texts: prompts by name, as in the encoder's folder.
        default: the name of the prompt that is used if none is asked for; None: no prompt.
        truncated: how many numbers of a vector are kept (`truncate_dim`); None: all.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    default: str | None = None
    truncated: int | None = None

    def choose(self, wanted: str) -> str:
        """Turn the name of a prompt, or a prompt itself, or an empty text into the prompt.

        Raises:
            OptionError: no prompt has this name, and as a text it would run into the sentence.
        """
        if not wanted:
            return self.texts.get(self.default, "") if self.default else ""
        if wanted not in self.texts and wanted[-1].isalnum():
            names = ", ".join(self.texts) or "none"
            raise OptionError(
                f"the encoder has no prompt {wanted!r}",
                f"it has: {names}; a prompt given as a text ends in a colon or a space: 'query: '",
            )
        return self.texts.get(wanted, wanted)

    def with_default(self, *prompts: str) -> "EncoderSettings":
        """Make a prompt, by its text, the default; several change nothing."""
        if len(prompts) != 1 or prompts[0] == self.choose(""):
            return self
        named = {text: name for name, text in self.texts.items()}
        name = named.get(prompts[0], "trained")
        return EncoderSettings({**self.texts, name: prompts[0]}, name, self.truncated)


def read_facts(folder: Path, card: str) -> EncoderFacts:
    """Read `xmine.json`; without it, the languages that the card's front matter names.

    Raises:
        EncoderError: the file is broken.
    """
    path = folder / FACTS_FILE
    if not path.exists():
        return EncoderFacts(languages=_languages_of(card))
    try:
        facts = read_json(path)
        return EncoderFacts(tuple(" ".join(facts["languages"]).split()), facts["method"])
    except KeyError as error:
        raise EncoderError(f"{path}: has no field {error}") from error
    except TypeError as error:
        raise EncoderError(f"{path}: cannot be read: {error}") from error


def write_facts(folder: Path, facts: EncoderFacts) -> None:
    """Write `xmine.json`, as the last file: it lists the others, see `check_replaceable`.

    With a file that the vectors depend on stands its digest, see `Source.digests`.
    """
    content = {"languages": list(facts.languages), "method": facts.method}
    digests = dict(Source(folder, list_files(folder), "").digests)
    files = {name: digests.get(name, "") for name in sorted(_files(folder))}
    write_json(folder / FACTS_FILE, {**content, "files": files})


def read_settings(folder: Path) -> EncoderSettings:
    """Read prompts and truncation from the file of sentence-transformers.

    Raises:
        EncoderError: the file is broken, or the default prompt does not exist.
    """
    path = folder / SETTINGS_FILE
    if not path.exists():
        return EncoderSettings()
    config: dict[str, Any] = read_json(path)
    prompts = setting(path, config, "prompts", dict) or {}
    texts = {name: text or "" for name, text in prompts.items()}
    default = setting(path, config, "default_prompt_name", str)
    truncated = setting(path, config, "truncate_dim", int)
    if truncated is not None and truncated < 1:
        raise EncoderError(f"{path}: truncate_dim is {truncated}, not 1 or more")
    if not all(isinstance(text, str) for text in texts.values()):
        raise EncoderError(f"{path}: a prompt that is no text")
    if default is not None and default not in texts:
        raise EncoderError(f"{path}: there is no prompt {default!r}, which it names as default")
    return EncoderSettings(texts, default, truncated)


def write_settings(folder: Path, settings: EncoderSettings) -> None:
    """Write the settings where sentence-transformers looks for them."""
    content: dict[str, Any] = {
        "__version__": {"sentence_transformers": _SENTENCE_TRANSFORMERS},
        "prompts": dict(settings.texts),
        "default_prompt_name": settings.default,
        "similarity_fn_name": "cosine",
    }
    if settings.truncated:
        content["truncate_dim"] = settings.truncated
    write_json(folder / SETTINGS_FILE, content)


def read_card(folder: Path) -> str:
    """Read the card, if there is one."""
    path = folder / CARD_FILE
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _languages_of(card: str) -> tuple[str, ...]:
    """Find `language: en` or a list of codes in a card's front matter."""
    if not card.startswith("---\n"):
        return ()
    front = card[4:].split("\n---", 1)[0]
    found = re.search(r"^languages?:[ ]*(\S.*)?\n((?:[ ]*- .*\n?)*)", front + "\n", re.MULTILINE)
    if not found:
        return ()
    codes = re.findall(r"\b[a-z]{2,3}\b", f"{found[1] or ''} {found[2]}")
    return tuple(code for code in codes if code != "multilingual")


def check_replaceable(folder: Path) -> None:
    """Refuse a folder that holds something else than an encoder of xmine, or one for each side.

    Raises:
        FileError: it does, or a file has its name.
        EncoderError: the encoder's `xmine.json` is broken.
    """
    places = folder, *(folder / side for side in ("source", "target"))
    encoders = [place for place in places if (place / FACTS_FILE).is_file()]
    is_empty = folder.is_dir() and not any(folder.iterdir())
    if folder.exists() and not (encoders or is_empty):
        raise FileError(
            f"{folder}: exists and is not an encoder of xmine, so it is not replaced",
            "give another name",
        )
    if not folder.name:
        raise FileError(f"{folder}: is the folder that this command works in", "give its name")
    known = {folder / name for name in WITHOUT_EFFECT}
    for place in encoders:
        listed = read_json(place / FACTS_FILE).get("files")
        is_list = isinstance(listed, (dict, list))  # not in encoders of 0.1.0
        known |= {place / name for name in (map(str, listed) if is_list else _files(place))}
        known.add(place / FACTS_FILE)
    if others := sorted({folder / name for name in _files(folder)} - known) if encoders else []:
        raise FileError(
            f"{others[0]}: was not written by xmine, so {folder} is not replaced",
            "move the file, or give another name",
        )


def _files(folder: Path) -> list[str]:
    """Name the files in a folder and in those inside, but for what macOS leaves everywhere."""
    every = [path for path in folder.rglob("*") if not path.is_dir()]
    names = [path.relative_to(folder).as_posix() for path in every if path.name != ".DS_Store"]
    return [name for name in names if not name.rpartition("/")[2].startswith("._")]
