"""Callers who leave: their query is ended, or those who time out and ask again would have it run for each attempt.

A change is carried out: whoever asks for it again, with its idempotency key, finds it done.
"""

import asyncio
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from gateway.graph.http.http_error import HttpError

# where in the scope of a request the server finds whom to tell
LEFT = "gateway.left"


@contextmanager
def ended_when_left(scope: MutableMapping[str, Any]) -> Iterator[None]:
    task = asyncio.current_task()
    left = False

    def leave() -> None:
        nonlocal left
        if task is not None and not left:
            left = task.cancel()

    scope[LEFT] = leave
    try:
        yield
    except asyncio.CancelledError as error:
        if not left or task is None:
            raise
        task.uncancel()
        raise HttpError(HTTPStatus.BAD_REQUEST, "the caller left before the answer") from error
    finally:
        del scope[LEFT]


def tell(scope: MutableMapping[str, Any]) -> None:
    """The caller of this request has left."""
    if LEFT in scope:
        scope[LEFT]()
