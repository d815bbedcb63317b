"""AWS on a laptop as a child process: started, waited for, and stopped, whatever happens to its parent."""

import json
import secrets
import subprocess
import sys
import threading
from types import TracebackType
from typing import Any, Self

from gateway.errors import Unavailable
from gateway.sandbox.dev.issuer import AUDIENCE, ask_for_token
from gateway.sandbox.ready import Options, Ready, from_line
from gateway.setting_types import IssuerSettings
from gateway.settings import Settings

# one that ends is noticed at once: these are for one that hangs, and a busy machine needs long
_START_SECONDS = 180.0
_STOP_SECONDS = 30.0
_OPTIONS = Options()


class Child:
    """A module in a process of its own that ends when this process does."""

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
            # Ctrl-C is for the parent alone, which then stops its children in order
            start_new_session=True,
        )

    def stop(self) -> None:
        """Asks it to end, and ends it where it does not."""
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
    """`with Sandbox() as sandbox:`; `options.port` is a wish, `url` is where it is."""

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
        """None while it runs."""
        return self._child.process.poll()

    def token(self, tenant: str, role: str, subject: str | None = None, seconds: int | None = None) -> str:
        return ask_for_token(self.url, tenant, role, subject, seconds)

    def settings(self, **changes: Any) -> Settings:
        """The settings of a gateway that uses this sandbox; variables of the environment win, as always."""
        issuer = IssuerSettings(
            issuer=self.ready.issuer, audience=[AUDIENCE], jwks_url=self.ready.jwks_url, algorithms=["RS256"]
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
