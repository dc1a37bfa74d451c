"""What a user has chosen for the terminal app: its theme, and keys other than the usual ones."""

from dataclasses import dataclass, field

from xmine.browsing.state import changing, load

_FILE = "settings.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """Choices that outlast the app.

    Attributes:
        theme: its name; empty for the usual one.
        keys: ids of actions, such as pairs.find -> keys, with commas between.
    """

    theme: str = ""
    keys: dict[str, str] = field(default_factory=dict)


def settings() -> Settings:
    """Read them; what makes no sense is left out."""
    read = load(_FILE)
    theme, keys = read.get("theme"), read.get("keys")
    return Settings(
        theme if isinstance(theme, str) else "",
        {name: key for name, key in keys.items() if isinstance(key, str)}
        if isinstance(keys, dict)
        else {},
    )


def keep_theme(name: str) -> None:
    """Remember a theme.

    Raises:
        FileError: nothing can be remembered.
    """
    with changing(_FILE) as content:
        content["theme"] = name
