"""Validates an AssumeRole request by the rules of STS: lengths, characters, counts, durations."""

import json
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.iam.language import arn, policy_text
from gateway.iam.language.document import parse
from gateway.iam.language.errors import PolicyError

ASSUME_ACTIONS: Final = ("sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity")
DEFAULT_SECONDS: Final = 3_600
CHAINED_SECONDS: Final = 3_600
_PACKED_BYTES: Final = 2_048
_NAME = re.compile(r"[A-Za-z0-9_+=,.@-]{2,64}")
_EXTERNAL_ID = re.compile(r"[A-Za-z0-9_+=,.@:/-]{2,1224}")
_TAG_MARKS: Final = frozenset("_.:/=+-@")


@dataclass(frozen=True, slots=True)
class RoleRequest:
    """An AssumeRole call; `tags` are pairs, because a request may contain the same key twice."""

    role_arn: str
    session_name: str
    duration_seconds: int = DEFAULT_SECONDS
    policy: str | None = None
    policy_arns: tuple[str, ...] = ()
    tags: tuple[tuple[str, str], ...] = ()
    transitive_tag_keys: tuple[str, ...] = ()
    external_id: str | None = field(default=None, repr=False)
    source_identity: str | None = None


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why STS refuses a request before it evaluates policies; `code` is the error code of AWS."""

    code: str
    message: str


def validate(request: RoleRequest, *, chained: bool, inherited: Mapping[str, str] | None = None) -> Invalid | None:
    """The first fault. `chained` means that the caller is an assumed role; `inherited` are its transitive tags."""
    return next(_faults(request, chained, frozenset(inherited or ())), None)


def _faults(request: RoleRequest, chained: bool, inherited: frozenset[str]) -> Iterator[Invalid]:
    yield from _names(request)
    yield from _duration(request.duration_seconds, chained)
    yield from _policies(request)
    yield from _tags(request.tags, request.transitive_tag_keys, inherited)
    percent = packed_percent(request)
    if percent > 100:
        yield Invalid("PackedPolicyTooLarge", f"policies and tags take {percent} % of the packed size (approximated)")


def packed_percent(request: RoleRequest) -> int:
    """The size of the packed policies and tags in percent of the limit.

    AWS does not document its packing. This compares the size after zlib with 2,048 bytes, an approximation that only
    distinguishes small from far too large.
    """
    text = json.dumps([request.policy, request.policy_arns, request.tags], ensure_ascii=False)
    return -(-len(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)) * 100 // _PACKED_BYTES)


def _names(request: RoleRequest) -> Iterator[Invalid]:
    if not _NAME.fullmatch(request.session_name):
        yield _wrong("RoleSessionName is 2 to 64 characters of letters, digits and `_+=,.@-`")
    if arn.segments(request.role_arn) is None or not 20 <= len(request.role_arn) <= 2_048:
        yield _wrong("RoleArn is an ARN of 20 to 2048 characters")
    if request.source_identity is not None and not _NAME.fullmatch(request.source_identity):
        yield _wrong("SourceIdentity is 2 to 64 characters of letters, digits and `_+=,.@-`")
    if request.external_id is not None and not _EXTERNAL_ID.fullmatch(request.external_id):
        yield _wrong("ExternalId is 2 to 1224 characters of letters, digits and `_+=,.@:/-`")


def _duration(seconds: int, chained: bool) -> Iterator[Invalid]:
    if not 900 <= seconds <= 43_200:
        yield _wrong("DurationSeconds is 900 to 43200")
    if chained and seconds > CHAINED_SECONDS:
        yield _wrong("DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")


def _policies(request: RoleRequest) -> Iterator[Invalid]:
    if len(request.policy_arns) > 10:
        yield _wrong("at most 10 managed session policies")
    if any(arn.segments(text) is None for text in request.policy_arns):
        yield _wrong("a managed session policy is named by its ARN")
    if request.policy is None:
        return
    try:
        policy_text.check_session_length(request.policy)
    except PolicyError as error:
        yield _wrong(error.message)
    try:
        parse(request.policy, "session")
    except PolicyError as error:
        yield Invalid("MalformedPolicyDocument", error.message)


def _tags(tags: tuple[tuple[str, str], ...], transitive: Iterable[str], inherited: frozenset[str]) -> Iterator[Invalid]:
    if len(tags) > 50:
        yield _wrong("at most 50 session tags")
    for key, value in tags:
        if not 1 <= len(key) <= 128 or not _taggable(key):
            yield _wrong("a tag key is 1 to 128 letters, digits, spaces and `_.:/=+-@`")
        if key.lower().startswith("aws:"):
            yield _wrong("a tag key may not begin with `aws:`")
        if len(value) > 256 or not _taggable(value):
            yield _wrong("a tag value is at most 256 letters, digits, spaces and `_.:/=+-@`")
    keys = {key.lower() for key, _ in tags}
    if len(keys) != len(tags):
        yield Invalid("InvalidParameterValue", "a tag key occurs twice; the case of keys does not matter")
    if not {key.lower() for key in transitive} <= keys:
        yield Invalid("InvalidParameterValue", "a transitive tag key must be among the tags")
    if not keys.isdisjoint(key.lower() for key in inherited):
        yield Invalid("InvalidParameterValue", "a tag key is already transitive from the calling session")


def _taggable(text: str) -> bool:
    return all(char in _TAG_MARKS or unicodedata.category(char)[0] in "LZN" for char in text)


def _wrong(message: str) -> Invalid:
    return Invalid("ValidationError", message)
