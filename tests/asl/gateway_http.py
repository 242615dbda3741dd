"""Serves one Lambda handler over HTTP on this machine, as the HTTP API in front of it would (payload format 2.0)."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def event(method: str, path: str, headers: Mapping[str, str], body: str = "") -> dict[str, Any]:
    """What API Gateway would hand to the function for this request."""
    parts = urlsplit(path)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": parts.path,
        "rawQueryString": parts.query,
        "headers": {name.lower(): value for name, value in headers.items()},
        "queryStringParameters": dict(parse_qsl(parts.query)),
        "requestContext": {
            "http": {"method": method, "path": parts.path, "sourceIp": "127.0.0.1"},
            "stage": "$default",
            "requestId": "local",
        },
        "body": body,
        "isBase64Encoded": False,
    }


@contextmanager
def served(handler: Handler, context: Any) -> Iterator[str]:
    """Serve ``handler`` until the block ends; gives the base URL.

    Parameters
    ----------
    handler : Handler
        Lambda handler of an HTTP API.
    context : Any
        Lambda context handed to every call.
    """

    class Bridge(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            answer = handler(event(self.command, self.path, dict(self.headers.items()), body), context)
            text = answer.get("body") or ""
            content = base64.b64decode(text) if answer.get("isBase64Encoded") else text.encode()
            try:
                self.send_response(answer["statusCode"])
                for name, value in (answer.get("headers") or {}).items():
                    if name.lower() != "content-length":
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up; what it asked for happened all the same

        do_GET = do_POST = _answer

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
