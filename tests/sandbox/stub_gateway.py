"""Stands for the gateway in tests of `gateway dev`: healthy at once, says what it was started with, ends on SIGTERM."""

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = {name: value for name, value in os.environ.items() if name.startswith(("AWS_", "GATEWAY_"))}
        body = json.dumps({"pid": os.getpid(), **found}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None: ...


def _end(number: int, frame: object) -> None:
    if "--slow" in sys.argv:
        sys.stdout.write("ending slowly\n")
        sys.stdout.flush()
        time.sleep(30)
    sys.exit(0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    if "--fail" in sys.argv:
        sys.exit(3)
    with HTTPServer((os.environ["GATEWAY_HOST"], int(os.environ["GATEWAY_PORT"])), _Answers) as server:
        server.serve_forever()
