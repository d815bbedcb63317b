"""Callers who leave: their query is ended, or those who time out and ask again would have it run for each attempt.

A change that has not begun is not begun. One that has is carried out: whoever asks for it again, with its idempotency
key, finds it done.
"""

import asyncio
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from gateway.graph.http_error import HttpError

# where in the scope of a request the server finds whom to tell, and whether the caller has left already
LEFT, GONE = "gateway.left", "gateway.gone"


@contextmanager
def ended_when_left(scope: MutableMapping[str, Any]) -> Iterator[Callable[[], None]]:
    """Yields a function that says: from now on this is carried out, even if the caller leaves."""
    if GONE in scope:
        raise _left()
    task = asyncio.current_task()
    left = False

    def leave() -> None:
        nonlocal left
        if task is not None and not left:
            left = task.cancel()

    def carry_on() -> None:
        scope.pop(LEFT, None)

    scope[LEFT] = leave
    try:
        yield carry_on
    except asyncio.CancelledError as error:
        if not left or task is None:
            raise
        task.uncancel()
        raise _left() from error
    finally:
        carry_on()


def tell(scope: MutableMapping[str, Any]) -> None:
    """The caller of this request has left."""
    scope[GONE] = True
    if LEFT in scope:
        scope[LEFT]()


def _left() -> HttpError:
    return HttpError(HTTPStatus.BAD_REQUEST, "the caller left before the answer")
