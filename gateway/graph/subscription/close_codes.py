"""WebSocket close codes: those of graphql-transport-ws and those of WebSocket itself."""

from enum import IntEnum

from gateway.errors import LimitExceeded, Throttled, Unavailable
from gateway.graph.subscription.subscriptions import Draining


class CloseCode(IntEnum):
    """Why a socket is closed. Clients reconnect by themselves after codes below 4400 and after FORBIDDEN."""

    TOO_BIG = 1009
    RESTART = 1012
    TRY_AGAIN = 1013
    BAD_MESSAGE = 4400
    UNAUTHORIZED = 4401
    FORBIDDEN = 4403
    BAD_PROTOCOL = 4406
    INIT_TIMEOUT = 4408
    ID_TAKEN = 4409
    INIT_TWICE = 4429


class SocketClosed(Exception):
    """Closes the connection with this code."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


def close_code(error: Exception) -> CloseCode:
    """The close code for this error."""
    if isinstance(error, Draining):
        return CloseCode.RESTART
    return CloseCode.TRY_AGAIN if isinstance(error, Unavailable | Throttled | LimitExceeded) else CloseCode.FORBIDDEN
