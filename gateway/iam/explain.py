"""A denial in words: the nearest statements and the first thing that failed in each."""

from gateway.iam.rules import Rule
from gateway.iam.variables import Context
from gateway.iam.verdict import Deny

_SHOWN = 5


def explicit_denial(rule: Rule, action: str, resource: str) -> Deny:
    label = rule.statement.label
    reason = f"statement `{label}` of the {rule.layer} policy denies `{action}`"
    return Deny(reason, rule.layer, label, None, True, action, resource)


def implicit_denial(layer: str, rules: tuple[Rule, ...], action: str, resource: str, context: Context) -> Deny:
    """Names only the statements that came nearest: those that fail at a condition before those that fail earlier."""
    allows = [rule for rule in rules if rule.statement.effect == "Allow" and rule.acts(action.lower())]
    opening = f"no statement of the {layer} policy allows `{action}`"
    if not allows:
        return Deny(f"{opening}: none names the action", layer, None, None, False, action, resource)
    reaching = [rule for rule in allows if rule.reaches(resource, context)]
    if not reaching:
        named = ", ".join(f"`{rule.statement.label}`" for rule in allows[:_SHOWN])
        reason = f"{opening} on this resource: {named} does not name `{resource}`"
        return Deny(reason, layer, allows[0].statement.label, None, False, action, resource)
    failures = [(rule.statement.label, row) for rule in reaching if (row := rule.failed(context)) is not None]
    shown = "; ".join(f"in `{label}` condition `{row.label}` does not hold" for label, row in failures[:_SHOWN])
    first, row = failures[0]
    return Deny(f"{opening}: {shown}", layer, first, row.label, False, action, resource)
