"""The output of `gateway explain-program`: the functions that are generated for a query and a role."""

from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any, NoReturn

from gateway.aws.sts.session import Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget
from gateway.domains import ServedDomains
from gateway.errors import BadUserInput
from gateway.graph.query.binder import Tree
from gateway.graph.query.lane.code_fields import CodeColumn
from gateway.graph.query.lane.fallback import NoLane
from gateway.graph.query.lane.generated import functions, source_of
from gateway.graph.query.lane.lane import Lane, Lanes
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents, Operation
from gateway.graph.schema.schema import core_schema
from gateway.iam.policies.policies import generated
from gateway.model.code import Loaded
from gateway.model.tenant import tenant_id
from gateway.ops.policies.files import permissions_for
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.plan import ReadLimits
from gateway.store.table import Table

# the generated functions depend neither on the tenant nor on the location of the table
_ANYWHERE = Tenancy(
    "gateway",
    "arn:aws:iam::123456789012:role/gateway-tenant",
    AwsTarget("https://dynamodb.example", "eu-west-1"),
    "eu-west-1",
)


def program_text(loaded: ServedDomains, text: str, role: str, name: str | None, variables: Mapping[str, Any]) -> str:
    """`variables` decide what `@include` and `@skip` keep of the query."""
    if role not in loaded.model.roles:
        raise BadUserInput(f"there is no role `{role}`; the roles are {', '.join(loaded.model.roles)}")
    before = set(functions())
    # keeps the lane alive until its functions are printed
    operation = _operation(loaded, text, name)
    lane = _lane(loaded, operation, role, variables)
    generated = [function for function in functions() if function not in before]
    assert lane.roots  # noqa: S101  a query selects something
    lines = [line for function in generated for line in (*_legend(function), source_of(function))]
    return "\n".join([*lines, *dict.fromkeys(_loads(operation.variant(variables).tree))])


def _loads(tree: Tree) -> Iterator[str]:
    """The fields that no generated function resolves."""
    for item, _ in tree.items:
        for field in item.code:
            if isinstance(field.declared, Loaded):
                needs = ", ".join(field.declared.needs)
                yield f"# {item.entity.name}.{field.declared.name}, loaded from {needs} in one call for all rows"


def _operation(loaded: ServedDomains, text: str, name: str | None) -> Operation:
    schema = core_schema(loaded.schema)
    documents = Documents(loaded.model, schema, DocumentLimits(), introspection=True)
    document = documents.prepare(text)
    if document.ast is None:
        raise BadUserInput(f"the document cannot run: {document.errors[0].message}")
    operation = document.operation(name)
    if operation is None:
        raise BadUserInput(f"name one of the operations: {', '.join(map(str, document.operations))}")
    if not operation.is_query:
        raise BadUserInput("nothing is generated for a mutation: graphql-core runs it")
    return operation


def _lane(loaded: ServedDomains, operation: Operation, role: str, variables: Mapping[str, Any]) -> Lane:
    model, tenant = loaded.model, tenant_id("any")
    subject = "anybody" if model.roles[role].own else None
    permissions = permissions_for(generated(model), model)(_ANYWHERE, tenant, role, subject)
    table = Table(DynamoDBClient(), model, _no_renewal)
    lanes = Lanes(model, table, Cursors("c" * 32), ReadLimits())
    session = Session(tenant, role, Credentials("", ""), _ANYWHERE, permissions)
    try:
        return lanes.make(operation.variant(variables).tree, Access(session))
    except NoLane as error:
        raise BadUserInput(f"nothing is generated for role `{role}`: graphql-core runs this query") from error


async def _no_renewal(session: Session) -> NoReturn:
    raise AssertionError("nothing is sent")


def _legend(function: Callable[..., Any]) -> Iterator[str]:
    """What the names in the source mean: fields of rows and responses, and strings."""
    names = {"Row", *_names(function.__code__)}
    values = {name: value for name, value in function.__globals__.items() if name in names}
    for name, value in values.items():
        if hasattr(value, "__struct_encode_fields__"):
            fields = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
            yield f"# {name}: {', '.join(f'{field} = {content}' for field, content in fields)}"
        elif isinstance(value, CodeColumn):
            yield f"# {name}: {value.description}"
        elif isinstance(value, str):
            yield f"# {name} = {value!r}"


def _names(code: CodeType) -> Iterator[str]:
    """The globals that it uses, including those in comprehensions."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)
