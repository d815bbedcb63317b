"""All facts of one audit; only the table itself must be readable."""

from datetime import datetime

from gateway.errors import ConfigurationError
from gateway.model.model import Model
from gateway.ops.audit.account import Live, Unlearned, learn
from gateway.ops.audit.facts import Facts, TableFacts, Unknown
from gateway.ops.audit.gather.alarms import alarm_facts, seen_facts, subscriber_facts
from gateway.ops.audit.gather.code import code_facts
from gateway.ops.audit.gather.files import Places, file_facts
from gateway.ops.audit.gather.network import endpoint_facts
from gateway.ops.audit.gather.roles import role_facts
from gateway.ops.audit.gather.scaling import scaling_facts
from gateway.ops.audit.gather.table import backup_facts, key_facts, table_facts, table_policy, ttl_facts
from gateway.ops.audit.lines import Subject


def gather(live: Live, subject: Subject, model: Model, places: Places, now: datetime) -> Facts:
    """Raises `ConfigurationError` where the table cannot be described: then nothing can be said."""
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
        code=code_facts(model),
        files=file_facts(model, places),
    )


def _table(live: Live, name: str) -> TableFacts:
    try:
        return table_facts(live, name)
    except Unlearned as error:
        raise ConfigurationError([f"the table `{name}` cannot be described: {_why(error)}"]) from error


def _why(error: Unlearned) -> str:
    missing = error.missing
    if error.code == "ResourceNotFoundException":
        return "there is no such table in this account and region"
    return f"{missing.reason}; {missing.fix}" if isinstance(missing, Unknown) and missing.fix else missing.reason
