"""The server process: uvicorn, which waits for its readers before it stops; so we send them away first."""

from __future__ import annotations

import socket

import uvicorn
from fastapi import FastAPI


class Server(uvicorn.Server):
    """Serves one application, and ends its streams when it is told to stop."""

    def __init__(self, config: uvicorn.Config, application: FastAPI) -> None:
        super().__init__(config)
        self._application = application

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then everything else."""
        self._application.state.feeds.close()
        await super().shutdown(sockets)
