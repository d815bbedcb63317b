"""What the installed gateway does with partial answers and with repeated writes."""

from collections.abc import Iterator

from gateway.ops.audit import fixes
from gateway.ops.audit.results import AuditFinding, Case, failed, not_applicable, passed

_ALONE = ("DeleteItem", "PutItem", "UpdateItem")
_WRITES = (*_ALONE, "BatchWriteItem", "TransactWriteItems")


def unprocessed(case: Case) -> Iterator[AuditFinding]:
    code = case.facts.code
    if not code.keys_asked_again:
        yield failed("tried: keys that DynamoDB leaves unprocessed are not asked for again", fixes.CODE)
    if not code.fails_loudly:
        yield failed("tried: keys that stay unprocessed are lost without an error", fixes.CODE)
    if code.keys_asked_again and code.fails_loudly:
        yield passed("tried: unprocessed keys are asked for again, and what stays unprocessed ends in an error")
    writers = code.sends.get("BatchWriteItem", ())
    careless = [module for module in writers if module not in code.reads_unprocessed_items]
    if careless:
        yield failed(f"BatchWriteItem without a look at UnprocessedItems: {', '.join(careless)}", fixes.CODE)
    elif writers:
        yield passed(f"{', '.join(writers)} reads UnprocessedItems")
    else:
        yield not_applicable("this release sends no BatchWriteItem")


def idempotent_writes(case: Case) -> Iterator[AuditFinding]:
    code = case.facts.code
    if not any(operation in code.sends for operation in _WRITES):
        yield not_applicable("this release sends no writes")
        return
    alone = {operation: code.sends[operation] for operation in _ALONE if operation in code.sends}
    if alone:
        words = "; ".join(f"{operation} in {', '.join(modules)}" for operation, modules in alone.items())
        yield failed(f"writes outside of a transaction are not remembered: {words}", fixes.CODE)
    if "TransactWriteItems" in code.sends and not code.transaction_tokens:
        yield failed("transactions are sent without ClientRequestToken: one that is repeated runs twice", fixes.CODE)
    if not code.records_used_by:
        yield failed("no write is remembered by its idempotency key", fixes.CODE)
        return
    users = ", ".join(code.records_used_by)
    yield passed(f"writes leave an idempotency record in their own transaction ({users}), which has a token")
