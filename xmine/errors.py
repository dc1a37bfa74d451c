"""The errors that a user may cause, each with a message and a hint.

    XmineError
    ├── OptionError      an option, or a combination of options, makes no sense    exit 2
    ├── FileError        a file is missing, unreadable, not text, in the way       exit 1
    ├── EncoderError     a folder is not an encoder that can be used               exit 1
    └── TrainingError    training cannot start, go on or resume                    exit 1

The command prints `message` and `hint`; a library user catches XmineError. An XmineWarning does not
stop the work.
"""

from xmine.display import visible

# Paths that messages name otherwise: that of a copy by the address it has on a hub.
NAMED: dict[str, str] = {}
_ON_ONE_LINE = str.maketrans("\t\n", "\u2409\u240a")


class XmineError(Exception):
    """An error that the user can correct: `message` names it, `hint` says what to do.

    Both may quote a file: what a terminal would obey or hide is a symbol in them, see
    `xmine.display`. A message is one line; a hint may have several.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        """Say what is wrong, naming file and line if there are any, and what to do."""
        for path, name in NAMED.items():
            message, hint = message.replace(path, name), hint.replace(path, name)
        self.message = visible(message).translate(_ON_ONE_LINE)
        super().__init__(self.message)
        self.hint = visible(hint)
        if self.hint:
            self.add_note(f"hint: {self.hint}")  # below the message in a traceback


class OptionError(XmineError):
    """An option has a value it cannot have."""

    exit_code = 2


class FileError(XmineError):
    """A file cannot be read or written as asked; the message names file and, if any, line."""


class EncoderError(XmineError):
    """A folder does not hold an encoder that xmine can use."""


class TrainingError(XmineError):
    """Training cannot start, go on or resume."""


class XmineWarning(UserWarning):
    """A possible mistake: what xmine did, and what to type for something else."""
