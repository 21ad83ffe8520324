"""The REST interface on a free port of this machine, in a thread: what clients meet, without a database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from orchestrator.api.serving import Server

STARTS_WITHIN_S = 10.0


@contextmanager
def serving(application: FastAPI) -> Iterator[str]:
    """The address at which it answers."""
    server = _Server(uvicorn.Config(application, host="127.0.0.1", port=0, log_config=None), application)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.listening.wait(STARTS_WITHIN_S), "uvicorn did not start"
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


class _Server(Server):
    """Says when it listens; signals stay with pytest."""

    def __init__(self, config: uvicorn.Config, application: FastAPI) -> None:
        super().__init__(config, application)
        self.listening = threading.Event()

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        self.listening.set()

    def install_signal_handlers(self) -> None:
        """None in a thread."""
