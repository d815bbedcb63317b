"""Prepares the lanes of trusted documents at start, so that their first caller does not wait.

They are prepared for every role on the shared table. A tenant with its own table gets a lane on the first use of a
document.
"""

import logging

from gateway.aws.sts.session import PermissionsFor, Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.graph.background import in_background
from gateway.graph.http.endpoint import Endpoint
from gateway.graph.query.operation import Documents, ParsedDocument
from gateway.model.model import Model
from gateway.model.tenant import tenant_id

_LOG = logging.getLogger("gateway.trusted_lanes")
_ANY_TENANT, _ANY_SUBJECT = tenant_id("any"), "anybody"


def example_sessions(model: Model, tenancy: Tenancy, permissions: PermissionsFor) -> list[Session]:
    """One session for each role; they have no credentials, so nothing can be sent with them."""
    sessions = []
    for role in model.roles.values():
        subject = _ANY_SUBJECT if role.own else None
        allowed = permissions(tenancy, _ANY_TENANT, role.name, subject)
        sessions.append(Session(_ANY_TENANT, role.name, Credentials("", ""), tenancy, allowed))
    return sessions


async def prepare_trusted(endpoint: Endpoint, sessions: list[Session]) -> None:
    """Prepares one lane after another outside the event loop; requests are served in the meantime."""
    try:
        for session in sessions:
            documents = endpoint.views[session.role][0] if session.role in endpoint.views else endpoint.documents
            for text in endpoint.persisted.trusted_texts:
                await _prepare(endpoint, await _document(endpoint, documents, text), session)
    except Exception:
        _LOG.exception("lanes of trusted documents are made at their first use instead")


async def _prepare(endpoint: Endpoint, document: ParsedDocument, session: Session) -> None:
    for operation in document.operations.values():
        variant = operation.only_variant
        if operation.is_query and variant is not None:
            await endpoint.lanes.prepare(variant, session)


async def _document(endpoint: Endpoint, documents: Documents, text: str) -> ParsedDocument:
    document = documents.known(text)
    if document is None:
        document = await in_background(endpoint.reference.table.pacer, documents.prepare, text)
        documents.remember(text, document)
    return document
