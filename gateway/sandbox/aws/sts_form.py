"""The form that a request to STS is sent as; what is not understood is refused, so that nothing is lost on the way."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl

from gateway.iam.sts.assume_role import RoleRequest
from gateway.sandbox.aws.responses import AwsFault

_SINGLE = frozenset(
    ("Action", "Version", "RoleArn", "RoleSessionName", "DurationSeconds", "Policy", "ExternalId", "SourceIdentity")
)
_MEMBER = r"\.member\.([1-9]\d{0,2})"
_LISTED = {
    "tag keys": re.compile(rf"Tags{_MEMBER}\.Key"),
    "tag values": re.compile(rf"Tags{_MEMBER}\.Value"),
    "transitive": re.compile(rf"TransitiveTagKeys{_MEMBER}"),
    "policies": re.compile(rf"PolicyArns{_MEMBER}\.arn"),
}


def read_form(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body), errors="strict")
    except ValueError as error:
        raise AwsFault("MalformedQueryString", "The query string contains a syntax error.") from error
    form = dict(pairs)
    if len(form) != len(pairs):
        raise AwsFault("MalformedQueryString", "A parameter was sent more than once.")
    return form


def role_request(form: Mapping[str, str]) -> RoleRequest:
    listed = (pattern.fullmatch for pattern in _LISTED.values())
    known = _SINGLE.union(name for matches in listed for name in form if matches(name))
    # an empty list is sent as its name without a value
    known |= {name for name in ("Tags", "TransitiveTagKeys", "PolicyArns") if form.get(name) == ""}
    unknown = sorted(form.keys() - known)
    if unknown:
        raise AwsFault("ValidationError", f"the sandbox does not know the parameter {unknown[0]}")
    duration = form.get("DurationSeconds", "3600")
    if not re.fullmatch(r"\d{1,6}", duration):
        raise AwsFault("ValidationError", "DurationSeconds is a number")
    keys, values = dict(_listed(form, "tag keys")), dict(_listed(form, "tag values"))
    if keys.keys() != values.keys():
        raise AwsFault("ValidationError", "a tag has a Key and a Value")
    return RoleRequest(
        role_arn=form.get("RoleArn", ""),
        session_name=form.get("RoleSessionName", ""),
        duration_seconds=int(duration),
        policy=form.get("Policy"),
        policy_arns=tuple(text for _, text in _listed(form, "policies")),
        tags=tuple((key, values[number]) for number, key in keys.items()),
        transitive_tag_keys=tuple(text for _, text in _listed(form, "transitive")),
        external_id=form.get("ExternalId"),
        source_identity=form.get("SourceIdentity"),
    )


def _listed(form: Mapping[str, str], kind: str) -> Iterator[tuple[int, str]]:
    for parameter, text in form.items():
        found = _LISTED[kind].fullmatch(parameter)
        if found:
            yield int(found[1]), text
