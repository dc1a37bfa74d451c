"""The terminal app in a web browser: a server that runs a process for each window.

Only who has the token of the printed address gets anything from it; a cookie brings the token back.
"""

import asyncio
import copy
import errno
import secrets
import shlex
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from xmine.cli.console import Console
from xmine.errors import XmineError
from xmine.extras import needs

_TITLE = "<title>xmine</title>"
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
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve_app(path: Path | None, host: str, port: int, console: Console) -> None:
    """Serve the app until Ctrl-C.

    Raises:
        XmineError: the server is not installed, or the port is taken.
    """
    needs("--serve", "textual_serve")
    from textual_serve.server import Server

    address = f"[{host}]" if ":" in host else host
    if host not in _LOOPBACK:
        console.warn("nothing is encrypted: who reads along reads the token, and gets your files")

    class Guarded(Server):
        """A server for those who have its token, and for few windows at a time."""

        token = secrets.token_urlsafe(24)
        windows = 0

        async def _make_app(self) -> Any:  # noqa: ANN401 - of aiohttp
            app = await super()._make_app()
            app.middlewares.append(_guard(self))
            return app

        async def handle_websocket(self, request: Any) -> Any:  # noqa: ANN401 - of aiohttp
            """Run a window's process, and count it."""
            self.windows += 1
            try:
                return await super().handle_websocket(request)
            finally:
                self.windows -= 1

        async def handle_index(self, request: Any) -> Any:  # noqa: ANN401 - of aiohttp
            """Give the page, which loads the rest from where the browser found it.

            That may be another port than ours, at the near end of a tunnel.
            """
            found = copy.copy(self)
            found.public_url = f"{request.scheme}://{request.host}"
            page: Any = await Server.handle_index(found, request)
            page.text = page.text.replace("</head>", f"{_TITLE}</head>").replace(
                "</body>", f"{_FOCUS}</body>"
            )
            page.set_cookie(f"xmine-{port}", self.token, httponly=True, samesite="Strict")
            return page

        def initialize_logging(self) -> None:
            """Say nothing: what there is to say is said here."""

    command = [sys.executable, "-m", "xmine", "browse", *([str(path)] if path else [])]
    url = f"http://{address}:{port}"
    server = Guarded(shlex.join(command), host, port, title="xmine", public_url=url)
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
        if request.path in ("/", "/ws") and server.windows >= _MOST_WINDOWS:
            raise web.HTTPServiceUnavailable(text=f"{_MOST_WINDOWS} windows are open: close one")
        response = await handler(request)
        if not response.prepared:  # a page, and no socket: nothing is loaded from elsewhere
            response.headers.update(_HEADERS)
        return response

    return guarded
