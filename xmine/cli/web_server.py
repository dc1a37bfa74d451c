"""The terminal app in a web browser: a server that runs a process for each window.

Only who has the token of the printed address gets anything from it; a cookie brings the token back.
"""

import asyncio
import copy
import errno
import os
import re
import secrets
import select
import shlex
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, unquote, urlsplit
from warnings import catch_warnings
from weakref import WeakSet

from xmine.cli.console import Console
from xmine.display import count
from xmine.errors import XmineError
from xmine.extras import needs
from xmine.hardware import free_memory, limit_memory
from xmine.run.worker_process import die_with_parent

# A telephone shows as many columns as it has room for, not a small picture of a wide page.
_HEAD = (
    '<title>xmine</title><meta name="viewport" content="width=device-width, '
    'initial-scale=1, interactive-widget=resizes-content"><link rel="icon" href="data:,">'
)
_FONT = re.compile(r"<link\s[^>]*fonts\.googleapis[^>]*>")  # of another server, which we forbid
_ASK_NAME = f"""<!DOCTYPE html><html lang="en"><head>{_HEAD}<style>
body {{ font: 16px/1.5 sans-serif; background: #121212; color: #e0e0e0; }}
body {{ padding: 1em; max-width: 34em; margin: auto; }}
input, button {{ font: inherit; padding: .5em 1em; min-height: 48px; width: 100%%; }}
input, button {{ box-sizing: border-box; margin-top: 1em; }}
</style></head><body>%s<form><label>Your name, which is kept with each of your verdicts:
<input name="judge" required maxlength="40" autofocus></label><button>Judge</button>
</form></body></html>"""
_WANTED = (
    "<p>Does each sentence say the same as the other, no more and no less? Then accept the pair."
)
_HEADERS = {
    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob: "
    "ws: wss:; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
    "Referrer-Policy": "no-referrer",  # the address has the token in it
}
# Gives the terminal in the page the keys as soon as it is connected; else one has to click first.
_FOCUS = """<script>const look = setInterval(() => {
  const line = document.querySelector(".-loaded .xterm-helper-textarea");
  if (line) { line.focus(); clearInterval(look); }
}, 100);</script>"""
_MOST_WINDOWS = 8  # each is a process
_NARROW = 60  # columns of a window, below which the screen of judging is all that is shown
_SMALLEST, _LARGEST = (20, 5), (500, 200)  # columns and rows; memory grows with both
_LEAST_MEMORY = 2**32  # bytes that a window may take in any case: a large encoder
_MOST_UNHEARD = 2**23  # bytes of keys that wait for a window
_PATIENCE = 5.0  # seconds that a window has to end
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve_app(
    path: Path | None, host: str, port: int, console: Console, *, read_only: bool = False
) -> None:
    """Serve the app until Ctrl-C; who may write is asked for a name.

    Raises:
        XmineError: the server is not installed, or the port is taken.
    """
    needs("--serve", "textual_serve")
    address = f"[{host}]" if ":" in host else host
    if host not in _LOOPBACK:
        console.warn("nothing is encrypted: who reads along reads the token, and gets your files")
    command = ["exec"] if os.name == "posix" else []  # no shell stands between
    command += [sys.executable, "-m", "xmine", "browse", *(["--read-only"] if read_only else [])]
    command += [str(path)] if path else []
    url = f"http://{address}:{port}"
    guarded = _guarded_server(command, port, path, read_only=read_only)
    server = guarded(shlex.join(command), host, port, title="xmine", public_url=url)
    server.console.quiet = True
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        _try(host, port)
        console.say(f"open {url}/?token={server.token} in a browser; Ctrl-C ends it")
        server.serve()
    except OSError as error:
        why = str(error.strerror or error).partition(" (while ")[0]
        is_taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        hint = "another port: --port 8001" if is_taken else "an address here: --host 127.0.0.1"
        raise XmineError(f"{address}:{port}: {why}", hint) from error
    finally:
        loop.close()


def _guarded_server(command: list[str], port: int, path: Path | None, *, read_only: bool) -> Any:  # noqa: ANN401
    """Make the class of the server, whose base is only there with the extra `web`."""
    from aiohttp import web
    from textual_serve.server import Server

    class Guarded(Server):
        """A server for those who have its token, and for few windows at a time."""

        token = secrets.token_urlsafe(24)
        windows = 0  # whose processes live
        sockets: ClassVar[WeakSet[Any]] = WeakSet()

        async def _make_app(self) -> Any:  # noqa: ANN401 - of aiohttp
            app = await super()._make_app()
            app.middlewares.append(_guard(self))
            return app

        async def handle_websocket(self, request: Any) -> Any:  # noqa: ANN401 - of aiohttp
            """Run a window's process, and count it."""
            visitor, (columns, rows) = copy.copy(self), _size_in(request)
            name = _name_in(request, port)
            own = [f"--judge={name}"] * bool(name and not read_only)
            visitor.command = shlex.join([*command, *own, *["--sample"] * (columns < _NARROW)])
            url = request.rel_url.update_query(width=columns, height=rows)
            self.windows += 1
            try:
                return await Server.handle_websocket(visitor, request.clone(rel_url=url))
            finally:
                self.windows -= 1

        async def _process_messages(self, websocket: Any, app_service: Any) -> None:  # noqa: ANN401
            """Hear a window, as long as it has a socket and a process."""
            self.sockets.add(websocket)
            await _hear(super()._process_messages, websocket, app_service)

        async def on_shutdown(self, app: Any) -> None:  # noqa: ANN401 - of aiohttp
            """End the windows with the server."""
            self.closing = asyncio.gather(*map(web.WebSocketResponse.close, self.sockets))

        async def handle_index(self, request: Any) -> Any:  # noqa: ANN401 - of aiohttp
            """Give the page, which loads the rest from where the browser found it.

            That may be another port than ours, at the near end of a tunnel.
            """
            found = copy.copy(self)
            found.public_url = f"{request.scheme}://{request.host}"
            given = request.query.get("judge", "").strip()
            page: Any = web.Response(status=303, headers={"Location": "/"})
            if not given and (read_only or _name_in(request, port)):
                page = await Server.handle_index(found, request)
                text = _FONT.sub("", page.text).replace("</head>", f"{_HEAD}</head>")
                page.text = text.replace("</body>", f"{_FOCUS}</body>")
            elif not given:
                told = await asyncio.to_thread(_about, path)
                page = web.Response(text=_ASK_NAME % told, content_type="text/html")
            judge = {f"xmine-judge-{port}": quote(given[:40])} if given else {}
            named = {f"xmine-{port}": self.token, **judge}
            for name, kept in named.items():
                page.set_cookie(name, kept, httponly=True, samesite="Strict")
            return page

        def initialize_logging(self) -> None:
            """Say nothing: what there is to say is said here."""

    return Guarded


def _about(path: Path | None) -> str:
    """Say as HTML which pairs are judged, what is asked, and how far the judges are."""
    from xmine.browsing.opening import stamp
    from xmine.pairs.judgements import TAKEN_BACK, file_beside, read_from

    if path is None:
        return ""
    with suppress(XmineError):  # the window tells of it
        heading, pairs = _pairs_of(path, str(stamp(path)))
        labels, _ = read_from(file_beside(path), 0)
        standing = {(each.key, each.judge): each.word for each in labels if not each.decides}
        said = [pair for pair, word in standing.items() if word != TAKEN_BACK]
        judged, judges = (len({pair[part] for pair in said}) for part in (0, 1))
        done = f"{count(judges, 'judge')} spoke on {count(judged, 'pair')}."
        return (
            f"{heading}{max(pairs - judged, 0):,} of {count(pairs, 'pair')} left: {done}{_WANTED}"
        )
    return ""


@lru_cache(maxsize=1)
def _pairs_of(path: Path, _: str) -> tuple[str, int]:
    """Write the name and the languages of a run or a file, and count the kept pairs."""
    from xmine.browsing.opening import open_pairs
    from xmine.text.languages import UNKNOWN_LANGUAGE, language_name

    with catch_warnings(action="ignore"):  # the window tells of them
        opened = open_pairs(path)
    known = [language_name(each) for each in opened.languages if each != UNKNOWN_LANGUAGE]
    heading = f"<h1>{escape(opened.name)}</h1><p>{' and '.join(known)}{': ' * bool(known)}"
    return heading, int(opened.kept(opened.cut).sum())


def be_window() -> None:
    """Be the process of a window: end with the server, and take no more than a share of memory."""
    die_with_parent()
    if hasattr(select, "poll"):
        threading.Thread(target=_end_with_server, name="watching the server", daemon=True).start()
    limit_memory(max(_LEAST_MEMORY, (free_memory() or 0) // _MOST_WINDOWS))


def _end_with_server() -> None:
    pipe = select.poll()
    pipe.register(0, 0)  # of standard input, that it closes
    pipe.poll()
    time.sleep(_PATIENCE)  # in which the app notes its place
    os.kill(os.getpid(), signal.SIGKILL)


async def _hear(hear: Any, websocket: Any, window: Any) -> None:  # noqa: ANN401 - their own
    """Hear a window of a sane size; its process ends with its socket, by force after a while."""
    process, resize = window._process, window.set_terminal_size

    async def drain() -> None:  # and not wait, perhaps for ever
        if process.stdin.transport.get_write_buffer_size() > _MOST_UNHEARD:
            process.kill()

    async def resized(*size: Any) -> None:  # noqa: ANN401
        with suppress(OverflowError, TypeError, ValueError):  # a browser may say anything
            await resize(*_within(*size))

    process.stdin.drain, window.set_terminal_size = drain, resized
    window._task.add_done_callback(lambda _: asyncio.ensure_future(websocket.close()))
    try:
        await hear(websocket, window)
    finally:
        ending = [asyncio.ensure_future(each) for each in (window.stop(), process.wait())]
        try:
            await asyncio.wait(ending, timeout=_PATIENCE)
        finally:
            if process.returncode is None:
                process.kill()
        await asyncio.wait(ending)


def _size_in(request: Any) -> list[int]:  # noqa: ANN401 - of aiohttp
    return _within(request.query.get("width", 80), request.query.get("height", 24))


def _within(*size: Any) -> list[int]:  # noqa: ANN401 - what a browser says
    """Bound columns and rows."""
    bounds = zip(size, _SMALLEST, _LARGEST, strict=True)
    return [min(max(int(each), least), most) for each, least, most in bounds]


def _name_in(request: Any, port: int) -> str:  # noqa: ANN401 - of aiohttp
    """Give the name that a visitor has given."""
    return unquote(request.cookies.get(f"xmine-judge-{port}", ""))


def _try(host: str, port: int) -> None:
    """Listen for a moment: an address that somebody else has shall not be told.

    Of a name with several addresses, those that this machine has not are for the server to skip.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, *_, address in found:
        try:
            socket.create_server(address[:2], family=family).close()
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL or len(found) == 1:
                raise


def _guard(server: Any) -> Any:  # noqa: ANN401 - a server, a middleware of aiohttp
    """Refuse requests without the token, and those that another site's page makes.

    A page that has made a name of its own lead here has no token: the cookie is for our names.
    """
    from aiohttp import web

    @web.middleware
    async def guarded(request: Any, handler: Any) -> Any:  # noqa: ANN401 - of aiohttp
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="from another site")
        given = request.query.get("token", request.cookies.get(f"xmine-{server.port}", ""))
        known = secrets.compare_digest(given.encode("utf-8", "replace"), server.token.encode())
        if not known and not request.path.startswith("/static/"):
            raise web.HTTPForbidden(text="open the address with a token that --serve has printed")
        if Path(server.statics_path, request.match_info.get("filename", "none")).is_dir():
            raise web.HTTPNotFound  # no list of files
        try:
            _size_in(request)
        except ValueError:
            raise web.HTTPBadRequest(text="width and height are whole numbers") from None
        if request.path in ("/", "/ws") and server.windows >= _MOST_WINDOWS:
            raise web.HTTPServiceUnavailable(text=f"{_MOST_WINDOWS} windows are open: close one")
        response = await handler(request)
        if not response.prepared:  # a page, and no socket: nothing is loaded from elsewhere
            response.headers.update(_HEADERS)
        return response

    return guarded
