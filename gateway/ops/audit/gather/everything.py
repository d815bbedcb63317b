"""Gathers all facts of an audit; only the table itself must be readable."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gateway.errors import ConfigurationError
from gateway.model.model import Model
from gateway.ops.audit.facts import EndpointFacts, Facts, FileFacts, NotHere, TableFacts, UnknownFact
from gateway.ops.audit.gather.account import FactUnavailable, Live, learn
from gateway.ops.audit.gather.alarms import alarm_facts, seen_facts, subscriber_facts
from gateway.ops.audit.gather.roles import document, role_facts
from gateway.ops.audit.gather.table import backup_facts, key_facts, scaling_facts, table_facts, table_policy, ttl_facts
from gateway.ops.audit.results import AuditSubject
from gateway.ops.policies.files import stale_policies, text_of

# Files of the repository: the page of access patterns and the policy files.


@dataclass(frozen=True, slots=True)
class Places:
    page: Path = Path("docs/access-patterns.md")
    policies: Path = Path("policies")


def file_facts(model: Model, places: Places) -> FileFacts:
    stale = (
        tuple(fault.partition("\n")[0] for fault in stale_policies(places.policies, model))
        if places.policies.is_dir()
        else NotHere(f"there is no directory `{places.policies}` here")
    )
    return FileFacts(text_of(places.page), stale)


# The VPC endpoints through which DynamoDB can be reached.


def endpoint_facts(live: Live, region: str) -> tuple[EndpointFacts, ...]:
    """All of the region; the check decides which of them belong to the gateway."""
    name = f"com.amazonaws.{region}.dynamodb"
    # the name as it is in China, too
    filters = [{"Name": "service-name", "Values": [name, f"cn.{name}"]}]
    endpoints = live.pages("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=filters)
    return tuple(
        EndpointFacts(
            name=endpoint["VpcEndpointId"],
            kind=endpoint.get("VpcEndpointType", "Gateway"),
            vpc=endpoint.get("VpcId", ""),
            state=endpoint.get("State", "unknown").lower(),
            routes=len(endpoint.get("RouteTableIds") or endpoint.get("SubnetIds") or ()),
            policy=document(endpoint.get("PolicyDocument")),
        )
        for endpoint in endpoints
    )


def gather(live: Live, subject: AuditSubject, model: Model, places: Places, now: datetime) -> Facts:
    """Raises `ConfigurationError` if the table cannot be described."""
    table = _table(live, subject.table)
    indexes = tuple(table.indexes)
    alarms = learn(lambda: alarm_facts(live))
    return Facts(
        table=table,
        ttl=learn(lambda: ttl_facts(live, subject.table)),
        backups=learn(lambda: backup_facts(live, subject.table)),
        key=learn(lambda: key_facts(live, table.key_arn)),
        scaling=learn(lambda: scaling_facts(live, subject.table, indexes)),
        alarms=alarms,
        subscribers=subscriber_facts(live, alarms),
        seen=learn(lambda: seen_facts(live, subject.table, indexes, now)),
        tenant_role=learn(lambda: role_facts(live, subject.tenant_role, "--tenant-role")),
        gateway_role=learn(lambda: role_facts(live, subject.gateway_role, "--gateway-role")),
        table_policy=learn(lambda: table_policy(live, table.arn)),
        endpoints=learn(lambda: endpoint_facts(live, subject.region)),
        files=file_facts(model, places),
    )


def _table(live: Live, name: str) -> TableFacts:
    try:
        return table_facts(live, name)
    except FactUnavailable as error:
        raise ConfigurationError([f"the table `{name}` cannot be described: {_why(error)}"]) from error


def _why(error: FactUnavailable) -> str:
    missing = error.missing
    if error.code == "ResourceNotFoundException":
        return "there is no such table in this account and region"
    return f"{missing.reason}; {missing.fix}" if isinstance(missing, UnknownFact) and missing.fix else missing.reason
