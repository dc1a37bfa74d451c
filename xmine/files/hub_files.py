"""A file of a dataset of the Hugging Face hub, `hf://datasets/OWNER/NAME/FILE` -> its copy here.

huggingface_hub asks the hub, at HF_ENDPOINT, and keeps copies in its cache, which serve offline.
"""

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from xmine.errors import NAMED, FileError, XmineError
from xmine.extras import needs

SCHEME = "hf:/"  # as pathlib writes hf://, too
_NAMED = re.compile(r"(?<![^,])hf://?[^,:]*")  # a column stands behind a colon
_FILE = re.compile(
    r"hf://?datasets/([\w.-]+/[\w.-]+)(?:@(refs/(?:pr|convert)/[^/]+|[^/]+))?/((?!.*\.\./).+)"
)


def here(spec: str | Path, *, downloads: bool = True) -> str:
    """Put the path of its copy in place of each address of a hub in a name of files.

    Args:
        spec: any name; behind an address may stand a colon and columns, or a comma and a file.
        downloads: False where somebody else may have written the name, as that of a run: a copy
            has to be in the cache.

    Raises:
        FileError: it is no address of a file; there is no such dataset, revision or file, or it is
            not for this user; or there is neither a copy nor a network.
        XmineError: huggingface_hub is not installed.
    """
    return _NAMED.sub(lambda found: _copy(found[0], downloads), str(spec))


@lru_cache  # in one process a file stays as it was
def _copy(address: str, downloads: bool) -> str:
    if not (found := _FILE.fullmatch(address)):
        hint = "it has the form hf://datasets/OWNER/NAME/FILE, or NAME@REVISION"
        raise FileError(f"{address}: not the address of a file in a dataset", hint)
    needs(address, "huggingface_hub")
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    name, revision, path = found.groups()
    of: dict[str, Any] = {"repo_type": "dataset", "revision": revision and unquote(revision)}
    with hub_errors(address, f"datasets/{name}", missing="not in the cache"):
        try:
            copy: str = huggingface_hub.hf_hub_download(
                name, path, **of, local_files_only=not downloads
            )
        except LocalEntryNotFoundError as error:
            if downloads:
                raise
            hint = "if you trust it, read it once"
            raise FileError(f"{address}: what a run names is not downloaded", hint) from error
        except EntryNotFoundError as error:
            files = huggingface_hub.HfApi().list_repo_files(name, **of)
            near = difflib.get_close_matches(path, files, 3, 0.3)
            hint = f"there are: {', '.join(near or files[:5]) or 'no files'}"
            raise FileError(f"{address}: the dataset has no such file", hint) from error
    NAMED[copy] = address
    return copy


@contextmanager
def hub_errors(
    what: str, place: str, kind: type[XmineError] = FileError, missing: str = ""
) -> Iterator[None]:
    """Say what a hub refuses as an error of a `kind`; `place` is that of the repository there."""
    from huggingface_hub import constants, errors

    page, login = f"{constants.ENDPOINT}/{place}", "hf auth login"
    none = "the hub has no such repository, or it is not public"
    known = [
        (errors.GatedRepoError, "its owner lets in who asks", f"ask at {page}, then: {login}"),
        (errors.RevisionNotFoundError, "there is no such revision", f"see {page}/commits/main"),
        (errors.RepositoryNotFoundError, none, f"check the name; for a private one: {login}"),
        (errors.HfHubHTTPError, "refused", f"log in with a token that may: {login}"),
    ]
    try:
        yield
    except kind:
        raise
    except Exception as error:
        told = next((each[1:] for each in known if isinstance(error, each[0])), None)
        if told is None:  # whatever the layers below make of a network that is not there
            why = f"the hub cannot be reached: {error.__cause__ or error}"
            why = "HF_HUB_OFFLINE forbids to download it" if constants.HF_HUB_OFFLINE else why
            why = f"{missing}, and {why}" if missing else why
            told = why, "download it where there is a network, and give what came"
        status = getattr(getattr(error, "response", None), "status_code", "")
        where = f"status {status}" if status else f"looked in {constants.HF_HUB_CACHE}"
        raise kind(f"{what}: {told[0]} ({where})", told[1]) from error
