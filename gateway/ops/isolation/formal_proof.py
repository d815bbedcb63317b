"""`gateway isolation prove --formal`: proves the policies of a model, or those in a directory, for every request."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gateway.domains import load_domains
from gateway.errors import GatewayError
from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.liveness import uses
from gateway.iam.formal.proof import TheoremOutcome, prove
from gateway.iam.formal.solver.lemma import lemma
from gateway.iam.formal.solver.solver import Answer
from gateway.iam.formal.theorems import ProofSubject, subject, theorems
from gateway.iam.language.policy_text import read_json
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import documents
from gateway.ops.isolation.formal_report import FormalReport
from gateway.settings import DEMO_DOMAINS

_ACCOUNT: Final = "123456789012"
EXAMPLE: Final = Deployment(
    "aws",
    "eu-west-1",
    _ACCOUNT,
    "gateway",
    f"arn:aws:iam::{_ACCOUNT}:role/gateway-tenant",
    f"arn:aws:iam::{_ACCOUNT}:role/gateway",
    "gateway-files",
)
"""The proof does not depend on the location of the table; see the assumptions."""


Replay = Callable[[ProofSubject, Sequence[TheoremOutcome]], Iterator[str]]
"""Sends the requests that refute theorems and returns a description of each outcome."""


def prove_formally(domains: Sequence[str], directory: Path | None = None, replay: Replay | None = None) -> FormalReport:
    """Proves the documents generated from the model, or the files of a directory, if one is named."""
    model = load_domains(domains or DEMO_DOMAINS).model
    generated = documents(model)
    proved_documents = generated if directory is None else {name: read_document(directory / name) for name in generated}
    about = f"{len(proved_documents)} documents " + ("of the model" if directory is None else f"in `{directory}`")
    hashes = {name: sha256(_text(name, document, directory)).hexdigest() for name, document in proved_documents.items()}
    return formal_report(subject(model, proved_documents, EXAMPLE), about, hashes, replay)


def without_sandbox(about: ProofSubject, outcomes: Sequence[TheoremOutcome]) -> Iterator[str]:
    """Sends nothing, because the sandbox is not installed."""
    return ("not sent to the sandbox: pip install 'tenant-graphql-gateway[sandbox]'" for _ in outcomes)


def formal_report(
    about: ProofSubject, words: str, hashes: Mapping[str, str], replay: Replay | None = None
) -> FormalReport:
    outcomes = tuple(prove(theorems(about), about.deployment))
    return FormalReport(
        datetime.now(UTC), words, hashes, _replayed(about, outcomes, replay), tuple(uses(about)), _lemma()
    )


def _replayed(
    about: ProofSubject, outcomes: Sequence[TheoremOutcome], send: Replay | None
) -> tuple[TheoremOutcome, ...]:
    """The outcomes, with the results of the requests that refute theorems."""
    refuted = [outcome for outcome in outcomes if not outcome.proved and outcome.example is not None]
    words = send(about, refuted) if send is not None and refuted else iter(())
    return tuple(replace(outcome, replay=next(words, "")) if outcome in refuted else outcome for outcome in outcomes)


def _lemma() -> Answer | None:
    """None if the second solver is not installed; the extra contains only the first."""
    try:
        return lemma()
    except NotProvable:
        return None


def _text(name: str, document: Mapping[str, Any], directory: Path | None) -> bytes:
    """The text of the file, or what `gateway policies` would write."""
    return (json.dumps(document, indent=2) + "\n").encode() if directory is None else (directory / name).read_bytes()


def read_document(path: Path) -> dict[str, Any]:
    try:
        return read_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise GatewayError(f"`{path}` cannot be read: {error}") from error
