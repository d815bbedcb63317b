"""Builds the limits of operations (document, cost, size) and the trusted documents from the settings."""

from graphql import GraphQLSchema

from gateway.errors import ConfigurationError
from gateway.graph.http.endpoint import EndpointLimits
from gateway.graph.http.manifest import read_manifest
from gateway.graph.http.persisted import Persisted
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.query.price import CostLimits
from gateway.model.model import Model
from gateway.settings import Settings
from gateway.store.plan import ReadLimits


def document_limits(settings: Settings) -> DocumentLimits:
    return DocumentLimits(
        depth=settings.max_depth,
        aliases=settings.max_aliases,
        root_fields=settings.max_root_fields,
        directives=settings.max_directives,
        chars=settings.max_document_chars,
        tokens=settings.max_document_tokens,
        token_bytes=settings.max_document_token_bytes,
        members=settings.max_list_length,
    )


def read_limits(settings: Settings) -> ReadLimits:
    return ReadLimits(page=settings.max_page_size, queries=settings.max_nested_queries)


def endpoint_limits(settings: Settings) -> EndpointLimits:
    return EndpointLimits(
        body_bytes=settings.max_body_bytes,
        seconds=settings.request_timeout_seconds,
        packed_from=settings.gzip_min_bytes,
    )


def cost_limits(settings: Settings, model: Model) -> CostLimits:
    unknown = [name for name in settings.max_cost_by_role if name not in model.roles]
    if unknown:
        raise ConfigurationError([f"max_cost_by_role: there is no role `{name}`" for name in unknown])
    return CostLimits(settings.max_cost, settings.max_cost_by_role)


def documents_of(settings: Settings, model: Model, schema: GraphQLSchema) -> Documents:
    limits, reads = document_limits(settings), read_limits(settings)
    return Documents(model, schema, limits, introspection=settings.introspection, reads=reads)


def persisted(settings: Settings, documents: Documents) -> Persisted:
    """Checks every trusted document against the schema at start, before a client sends its id."""
    path = settings.trusted_documents
    trusted = read_manifest(path, documents) if path is not None else {}
    return Persisted(trusted, trusted_documents_only=settings.trusted_documents_only)
