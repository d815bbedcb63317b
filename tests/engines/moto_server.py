"""moto as the sandbox runs it, one request at a time, over HTTP: `python -m tests.engines.moto_server <port>`."""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.responses import json_answer


def app() -> Starlette:
    engine = Embedded("123456789012", "eu-west-1")

    async def call(request: Request) -> Response:
        answer = await engine.call(request.headers["x-amz-target"], await request.body())
        return json_answer(answer.status, answer.body)

    return Starlette(routes=[Route("/", call, methods=["POST"])])


if __name__ == "__main__":
    uvicorn.run(app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", ws="none")
