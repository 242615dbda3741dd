"""What the launcher changes in the engine's process."""

import socket
import socketserver
import threading

import pytest

from engine import launcher


def test_the_runtime_api_answers_without_waiting_for_an_acknowledgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socketserver.StreamRequestHandler, "disable_nagle_algorithm", False)
    seen: list[int] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            seen.append(self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    launcher.answer_functions_at_once()
    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        asking = threading.Thread(target=lambda: socket.create_connection(server.server_address).close())
        asking.start()
        server.handle_request()
        asking.join()

    assert seen
    assert seen[0] != 0
