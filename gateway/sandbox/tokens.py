"""A token from the sandbox's issuer, wherever it runs."""

import http.client
import json
from urllib.parse import urlsplit

from gateway.errors import BadUserInput, Unavailable
from gateway.sandbox.issuer import PATH

_SECONDS = 5.0
_MAX_ANSWER = 65_536


def ask_for_token(url: str, tenant: str, role: str, subject: str | None = None, seconds: int | None = None) -> str:
    address = urlsplit(url)
    if address.scheme != "http" or not address.hostname:
        raise BadUserInput(f"`{url}` is not the address of a sandbox, such as http://127.0.0.1:8001")
    given = {"tenant": tenant, "role": role, "subject": subject, "seconds": seconds}
    wanted = {name: value for name, value in given.items() if value is not None}
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=_SECONDS)
    try:
        connection.request("POST", f"{PATH}/token", json.dumps(wanted), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = json.loads(answer.read(_MAX_ANSWER))
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(f"no sandbox answers at {url}: start one with `gateway dev`") from error
    finally:
        connection.close()
    match content:
        case {"token": str(token)}:
            return token
        case {"error": str(message)}:
            raise BadUserInput(message)
    raise Unavailable(f"what answers at {url} is not a sandbox")
