"""Starts the sandbox as a child process, waits until it is ready, and stops it."""

import json
import secrets
import subprocess
import sys
import threading
from typing import Any, Self

from gateway.errors import Unavailable
from gateway.sandbox.dev.issuer import AUDIENCE, ask_for_token
from gateway.sandbox.ready import Options, Ready, from_line
from gateway.setting_types import IssuerSettings, SupportSettings
from gateway.settings import Settings

# limits for a process that hangs; they are long because a busy machine is slow
_START_SECONDS = 180.0
_STOP_SECONDS = 30.0
_OPTIONS = Options()


class Child:
    """Runs a module in a child process that ends when this process ends."""

    def __init__(
        self,
        *command: str,
        environment: dict[str, str] | None = None,
        piped: bool = False,
        errors_too: bool = False,
    ) -> None:
        self.process = subprocess.Popen(  # noqa: S603  # our own modules, no shell
            [sys.executable, "-m", "gateway.sandbox.parent_watchdog", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if piped else None,
            stderr=subprocess.STDOUT if errors_too else None,
            env=environment,
            # Ctrl-C must reach only the parent, which then stops its children in order
            start_new_session=True,
        )

    def stop(self) -> None:
        """Terminates the process, and kills it if it does not end in time."""
        self.process.terminate()
        try:
            self.process.wait(_STOP_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


class Sandbox:
    """Use it as a context manager. If `options.port` is taken, another one is used: `url` has the address."""

    def __init__(self, options: Options = _OPTIONS) -> None:
        self._child = Child("gateway.sandbox", *options.arguments(), piped=True)
        try:
            self.ready = self._wait()
        except BaseException:
            self._child.stop()
            raise

    @property
    def url(self) -> str:
        return self.ready.url

    @property
    def returncode(self) -> int | None:
        """None while the process runs."""
        return self._child.process.poll()

    def token(self, tenant: str, role: str, subject: str | None = None, seconds: int | None = None) -> str:
        return ask_for_token(self.url, tenant, role, subject, seconds)

    def settings(self, **changes: Any) -> Settings:
        """The settings of a gateway that uses this sandbox. Environment variables override them, as always."""
        issuer = IssuerSettings(
            issuer=self.ready.issuer,
            audience=[AUDIENCE],
            jwks_url=self.ready.jwks_url,
            algorithms=["RS256"],
            support=SupportSettings(only=False),
        )
        tenants = changes.get("tenants", self.ready.tenants)
        elsewhere = {*changes.get("silos", ()), *changes.get("suspended_tenants", ())}
        values: dict[str, Any] = {
            "environment": "sandbox",
            "table_name": self.ready.table,
            "region": self.ready.region,
            "tenant_role_arn": self.ready.role_arn,
            "dynamodb_endpoint": self.url,
            "sts_endpoint": self.url,
            "dynamodb_streams_endpoint": self.url,
            "files_bucket": self.ready.bucket,
            "s3_endpoint": self.url,
            "tenants": list(self.ready.tenants),
            "readiness_tenant": next((tenant for tenant in tenants or () if tenant not in elsewhere), None),
            "issuers": [issuer],
            "cursor_secret": secrets.token_urlsafe(32),
            "introspection": True,
            "playground": True,
            "explain": True,
            "drain_timeout_seconds": 1,
        }
        return Settings(**{**values, **changes})

    def stop(self) -> None:
        self._child.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def _wait(self) -> Ready:
        process = self._child.process
        late = threading.Timer(_START_SECONDS, process.kill)
        late.start()
        try:
            line = process.stdout.readline() if process.stdout else b""
        finally:
            late.cancel()
        if not line:
            raise Unavailable("the sandbox did not start")
        said = json.loads(line)
        if "error" in said:
            raise Unavailable(f"the sandbox did not start: {said['error']}")
        return from_line(said)
