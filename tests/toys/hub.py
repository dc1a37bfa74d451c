"""A hub of datasets and encoders on this machine: the few answers that huggingface_hub needs."""

import base64
import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(http.server.BaseHTTPRequestHandler):
    """Has `datasets`, by OWNER/NAME@REVISION their files; notes what it is asked."""

    datasets: dict[str, dict[str, bytes]]
    gated: set[str]
    asked: list[str]

    def answer(self, content: object = b"", status: int = 200, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"X_Repo_Commit": COMMIT, **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].lstrip("/")
        self.asked.append(f"{self.command} {path}")
        parts = re.sub("^(api/)?(datasets/|models/)?", "", path).split("/")
        name, revision = "/".join(parts[:2]), parts[3] if len(parts) > 3 else "main"
        revision = "main" if revision == COMMIT else revision
        if name in self.gated:
            return self.answer(status=403, X_Error_Code="GatedRepo")
        if not any(each.startswith(f"{name}@") for each in self.datasets):
            return self.answer(status=401, X_Error_Code="RepoNotFound")
        if (files := self.datasets.get(f"{name}@{revision}")) is None:
            return self.answer(status=404, X_Error_Code="RevisionNotFound")
        if path.startswith("api/"):
            of_file = [
                {"type": "file", "path": x, "size": 1, "oid": x.replace("/", "-")} for x in files
            ]
            siblings = [{"rfilename": each} for each in files]
            about = {"id": name, "sha": COMMIT, "siblings": siblings}
            return self.answer(of_file if "tree" in parts else about)
        file = "/".join(parts[4:])
        if file not in files:
            return self.answer(status=404, X_Error_Code="EntryNotFound")
        etag = f'"{hashlib.sha1(files[file]).hexdigest()}"'
        return self.answer(files[file], ETag=etag)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        self.asked.append(f"POST {self.path} {self.headers.get('Authorization')}")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Authorization") != "Bearer hf_right":
            return self.answer({"error": "who are you?"}, 401)
        if self.path == "/api/validate-yaml":
            return self.answer({"warnings": [], "errors": []})
        if self.path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            self.asked.append(f"{name} {asked.get('visibility', asked.get('private'))}")
            self.datasets.setdefault(f"{name}@main", {})
            return self.answer({"url": f"http://{self.headers['Host']}/datasets/{name}"})
        name = "/".join(self.path.split("/")[3:5])
        if "/preupload/" in self.path:
            known = {"uploadMode": "regular", "shouldIgnore": False}
            return self.answer({"files": [x | known for x in json.loads(body)["files"]]})
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                content = base64.b64decode(line["value"]["content"])
                self.datasets[f"{name}@main"][line["value"]["path"]] = content
        url = f"http://{self.headers['Host']}/datasets/{name}/commit/{COMMIT}"
        return self.answer({"commitUrl": url, "commitOid": COMMIT, "success": True})

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def running(datasets: dict[str, dict[str, bytes]], *gated: str) -> Iterator[tuple[str, type[Hub]]]:
    """Give the address of a hub that runs, and what it sees."""
    handler = type("ThisHub", (Hub,), {"datasets": datasets, "gated": {*gated}, "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    server.server_close()
