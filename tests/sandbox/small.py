"""A front over an engine that only records what it is asked, with a clock that tests move."""

from dataclasses import replace
from time import time

from gateway.sandbox.aws.account import Account, KeyHolder, Registry, administrator, session_keys
from gateway.sandbox.aws.engine import EngineResponse
from gateway.sandbox.aws.front import Front
from gateway.sandbox.aws.policies import account_with, gateway_caller
from tests.sandbox.documents import DEPLOYMENT, policies
from tests.sandbox.wire import Recorded


class Small:
    def __init__(self) -> None:
        self.engine = Recorded(EngineResponse(200, b'{"Item": {}}'))
        self.registry = Registry()
        self.account: Account = account_with(DEPLOYMENT, policies())
        self.admin: KeyHolder = administrator(self.account)
        self.gateway: KeyHolder = gateway_caller(self.account, DEPLOYMENT, policies())
        self.skew = 0.0
        for caller in (self.admin, self.gateway):
            self.registry.add(caller)
        self.app = Front(self.account, self.registry, self.engine, lambda: time() + self.skew).app()

    def session(self, seconds: float = 900) -> KeyHolder:
        """An administrator with keys that end, so that only the signature and the time decide."""
        made = replace(self.admin, credentials=session_keys(time() + seconds))
        self.registry.add(made)
        return made
