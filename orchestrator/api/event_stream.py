"""A response that goes on: server-sent events, until they end or their reader is gone."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, aclosing

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from orchestrator.api.streams import Feed

LONGEST_S = 900.0
"""Then the reader comes back by itself, and its token is looked at again."""
SEND_TIMEOUT_S = 30.0
"""Who takes nothing for so long is gone."""


class EventStream(Response):
    """What a feed tells one reader, who knows all events up to `after`."""

    media_type = "text/event-stream"

    def __init__(self, reading: AbstractAsyncContextManager[Feed], *, after: int | None) -> None:
        # Not `super().__init__`: it would announce the length of a body that has none.
        self.status_code = 200
        self.background = None
        self.init_headers({"cache-control": "no-store", "x-accel-buffering": "no"})
        self._reading = reading
        self._after = after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until there is nothing more to say."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with anyio.create_task_group() as group:

            async def leave_with_reader() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(leave_with_reader)
            with anyio.move_on_after(LONGEST_S):
                await self._tell(send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            group.cancel_scope.cancel()

    async def _tell(self, send: Send) -> None:
        async with self._reading as feed, aclosing(feed.messages(self._after)) as messages:
            async for message in messages:
                with anyio.move_on_after(SEND_TIMEOUT_S) as patience:
                    await send({"type": "http.response.body", "body": message, "more_body": True})
                if patience.cancelled_caught:
                    return
