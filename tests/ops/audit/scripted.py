"""A stand-in for the account: answers by operation, so that gathering can be tested on what AWS may say."""

from collections.abc import Mapping
from typing import Any

from gateway.ops.audit.facts import UnknownFact
from gateway.ops.audit.gather.account import AuditedAccount, FactUnavailable, Live


class Scripted(Live):
    """`answers` by operation; an exception among them is raised."""

    def __init__(self, answers: Mapping[str, Any], endpoint: str | None = None) -> None:
        super().__init__(AuditedAccount("eu-west-1", endpoint))
        self.answers = answers

    def call(self, service: str, operation: str, **parameters: Any) -> Mapping[str, Any]:
        answer = self.answers[operation]
        if isinstance(answer, Exception):
            raise answer
        found: Mapping[str, Any] = answer(**parameters) if callable(answer) else answer
        return found

    def pages(self, service: str, operation: str, key: str, **parameters: Any) -> list[Any]:
        return list(self.call(service, operation, **parameters).get(key, ()))


def refused(code: str) -> FactUnavailable:
    return FactUnavailable(UnknownFact(f"failed: {code}"), code)
