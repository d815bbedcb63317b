"""Every way to weaken a policy document that a slip of the hand, a merge or a well-meant change could take."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Change = Callable[[Json], None]

_TAG = "${aws:PrincipalTag/TenantId}"
_FORBIDDEN = ("dynamodb:Scan", "dynamodb:PartiQLSelect", "dynamodb:SearchVectors", "dynamodb:*", "dynamodb:UpdateTable")
_SWAPS = {
    "ForAllValues:": ("ForAnyValue:", ""),
    "ForAnyValue:": ("ForAllValues:", ""),
    "StringLike": ("StringEquals", "StringNotLike"),
    "StringNotLike": ("StringLike", "StringNotEquals"),
    "StringEquals": ("StringNotEquals",),
    "StringNotEquals": ("StringEquals",),
    "ArnEquals": ("ArnNotEquals",),
}
_EXEMPT = {
    "dynamodb:LeadingKeys": ("*", "TENANT#*"),
    "dynamodb:Select": ("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
    "dynamodb:ReturnValues": ("ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"),
    "dynamodb:Attributes": ("verified", "addedAt", "version"),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    title: str
    document: Json


def mutants(document: Json) -> Iterator[Mutant]:
    for title, change in _changes(document):
        changed = copy.deepcopy(document)
        change(changed)
        if _meaning(changed) != _meaning(document):
            yield Mutant(title, changed)


def _meaning(value: Any) -> Any:
    """Equal for documents that differ only in order, or in a list of one for a text."""
    match value:
        case dict():
            return {key: _meaning(each) for key, each in value.items()}
        case list():
            parts = sorted((_meaning(each) for each in value), key=repr)
            return parts[0] if len(parts) == 1 else parts
    return value


def _changes(document: Json) -> Iterator[tuple[str, Change]]:
    yield "drop Version", lambda made: made.pop("Version")
    yield "old Version", lambda made: made.update(Version="2008-10-17")
    yield from _further(document)
    for number, clause in enumerate(document["Statement"]):
        for title, change in (*_clause(clause), *_conditions(clause)):
            yield f"{clause['Sid']}: {title}", _at(number, change)
        if len(document["Statement"]) > 1:
            yield f"{clause['Sid']}: drop the statement", _without(number)


def _at(number: int, change: Change) -> Change:
    return lambda made: change(made["Statement"][number])


def _without(number: int) -> Change:
    return lambda made: made["Statement"].pop(number)


def _further(document: Json) -> Iterator[tuple[str, Change]]:
    """A well-meant statement more."""
    principal = {"Principal": document["Statement"][0]["Principal"]} if "Principal" in document["Statement"][0] else {}
    trust = "Resource" not in document["Statement"][0] and "NotResource" not in document["Statement"][0]
    for action in ("sts:AssumeRole", "sts:*") if trust else ("dynamodb:GetItem", "dynamodb:*", "dynamodb:Scan", "*"):
        resource = {} if trust else {"Resource": "arn:<partition>:dynamodb:<region>:<account>:table/<table>"}
        for target in (resource,) if trust else (resource, {"Resource": "*"}):
            clause = {"Sid": "Further", "Effect": "Allow", **principal, "Action": action, **target}
            yield f"a further Allow of {action} on {target.get('Resource')}", _added(clause)


def _added(clause: Json) -> Change:
    return lambda made: made["Statement"].append(dict(clause))


def _clause(clause: Json) -> Iterator[tuple[str, Change]]:
    other = {"Allow": "Deny", "Deny": "Allow"}[clause["Effect"]]
    yield f"Effect {other}", lambda made: made.update(Effect=other)
    yield from _actions(clause)
    yield from _resources(clause)
    if "AWS" in (clause.get("Principal") or {}):
        root = clause["Principal"]["AWS"]
        yield "Principal *", lambda made: made.update(Principal="*")
        yield "Principal AWS *", lambda made: made.update(Principal={"AWS": "*"})
        yield "a second Principal", lambda made: made.update(Principal={"AWS": [root, f"{root}2"]})
        yield "Principal account", lambda made: made.update(Principal={"AWS": "arn:aws:iam::123456789012:root"})
    if "Condition" in clause:
        yield "drop Condition", lambda made: made.pop("Condition")


def _actions(clause: Json) -> Iterator[tuple[str, Change]]:
    name = "Action" if "Action" in clause else "NotAction"
    listed = [clause[name]] if isinstance(clause[name], str) else clause[name]
    for action in listed:
        rest = [each for each in listed if each != action]
        if rest:
            yield f"drop {action}", _set(name, rest)
        if clause["Effect"] == "Allow":
            service = action.partition(":")[0]
            yield f"widen {action} to {service}:*", _set(name, [*rest, f"{service}:*"])
    if clause["Effect"] == "Allow" or name == "NotAction":
        more = ("sts:*", "sts:AssumeRole") if any(each.startswith("sts:") for each in listed) else _FORBIDDEN
        yield from ((f"add {action}", _set(name, [*listed, action])) for action in more if action not in listed)
    turned = "NotAction" if name == "Action" else "Action"
    yield f"{turned} for {name}", lambda made: made.update({turned: made.pop(name)})


def _resources(clause: Json) -> Iterator[tuple[str, Change]]:
    if "Resource" not in clause:
        return
    found = clause["Resource"]
    listed = [found] if isinstance(found, str) else found
    for resource in listed:
        rest = [each for each in listed if each != resource]
        if rest:
            yield f"drop {resource}", _set("Resource", rest)
        if resource != "*":
            yield f"widen {resource} to *", _set("Resource", [*rest, "*"])
            if not resource.endswith("*"):
                yield f"widen {resource} by a wildcard", _set("Resource", [*rest, f"{resource}*"])
            head, slash, _ = resource.rpartition("/")
            if slash and not resource.endswith("/*"):
                yield f"widen {resource} to {head}/*", _set("Resource", [*rest, f"{head}/*"])
        elif clause["Effect"] == "Deny":
            yield (
                "narrow * to one table",
                _set("Resource", ["arn:<partition>:dynamodb:<region>:<account>:table/<table>"]),
            )
    if clause["Effect"] == "Allow" and found != "*":
        yield "NotResource", lambda made: made.update(NotResource=made.pop("Resource"))
        yield "another account", _set("Resource", [each.replace("<account>", "*") for each in listed])
        yield "another region", _set("Resource", [each.replace("<region>", "*") for each in listed])


def _set(name: str, value: Any) -> Change:
    return lambda made: made.update({name: value})


def _conditions(clause: Json) -> Iterator[tuple[str, Change]]:
    block = clause.get("Condition", {})
    for operator, keys in block.items():
        if len(block) > 1:
            yield f"drop {operator}", _dropped(operator)
        yield from _operators(operator)
        for key, value in keys.items():
            if len(keys) > 1:
                yield f"drop {operator} {key}", _popped(operator, key)
            yield from _values(clause["Effect"], operator, key, value)


def _dropped(operator: str) -> Change:
    return lambda made: made["Condition"].pop(operator)


def _popped(operator: str, key: str) -> Change:
    return lambda made: made["Condition"][operator].pop(key)


def _operators(operator: str) -> Iterator[tuple[str, Change]]:
    prefix, colon, name = operator.rpartition(":")
    others = [f"{other}{name}" for other in _SWAPS.get(prefix + colon, ())]
    others += [f"{prefix}{colon}{other}" for other in _SWAPS.get(name, ())]
    if name != "Null":
        others.append(f"{operator}IfExists")
    for other in others:
        yield f"{operator} to {other}", _renamed(operator, other)


def _renamed(operator: str, other: str) -> Change:
    def change(made: Json) -> None:
        moved = made["Condition"].pop(operator)
        made["Condition"][other] = {**made["Condition"].get(other, {}), **moved}

    return change


def _values(effect: str, operator: str, key: str, value: Any) -> Iterator[tuple[str, Change]]:
    if operator == "Null":
        yield f"Null {key} turned", _valued(operator, key, "true" if value == "false" else "false")
        return
    listed = [value] if isinstance(value, str) else value
    for text in listed:
        rest = [each for each in listed if each != text]
        if rest:
            yield f"drop `{text}`", _valued(operator, key, rest)
        for other in _others(effect, operator, text):
            yield f"`{text}` to `{other}`", _valued(operator, key, [*rest, other])
    if effect == "Deny" and "Not" in operator:
        for exempt in _EXEMPT[key]:
            yield f"exempt `{exempt}`", _valued(operator, key, [*listed, exempt])
    yield f"{operator} on another key", _moved(operator, key, f"{key}x")


def _others(effect: str, operator: str, text: str) -> Iterator[str]:
    if effect == "Allow":
        return _wider(text)
    # A negated denial becomes weaker by more values, not by other ones.
    return _misnamed(text) if "Not" in operator else _narrower(text)


def _wider(text: str) -> Iterator[str]:
    """A grant that reaches further, or reaches the wrong rows."""
    yield from _misnamed(text)
    if _TAG in text:
        yield text.replace(_TAG, "*")
        yield text.replace(_TAG, f"{_TAG}*")
        yield text.replace(_TAG, "${aws:PrincipalTag/TenantId, '*'}")
    yield text.replace("#*", "*")
    yield text.replace("<region>", "*")
    yield text.replace("<table>", "*")
    yield text.replace("??*", "*")
    yield text.replace("??*", "?*")
    yield text.replace("dynamodb.*", "*")


def _narrower(text: str) -> Iterator[str]:
    """A denial that misses something."""
    yield from _misnamed(text)
    yield f"{text}x"


def _misnamed(text: str) -> Iterator[str]:
    if _TAG in text:
        yield text.replace(_TAG, "acme")
        yield text.replace(_TAG, "${aws:PrincipalTag/GatewayRole}")


def _valued(operator: str, key: str, value: Any) -> Change:
    return lambda made: made["Condition"][operator].update({key: value})


def _moved(operator: str, key: str, other: str) -> Change:
    return lambda made: made["Condition"][operator].update({other: made["Condition"][operator].pop(key)})
