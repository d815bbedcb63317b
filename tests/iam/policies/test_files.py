"""Statements about files: only of models that have some, and each weakened one is noticed."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from gateway.demo import MODEL as SHIPPED
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.deployment import LONGEST, Deployment, render
from gateway.iam.policies.generate import documents, kind_of
from gateway.iam.policies.lint import lint
from gateway.iam.policies.policies import generated
from gateway.iam.policies.review import review
from gateway.ops.policies.files import unsafe_policies
from gateway.ops.policies.readme import about, words
from tests.files.vault import MODEL

PLACE = Deployment.of_role("arn:aws:iam::123456789012:role/tenant", "eu-west-1", "pool", bucket="pool-files")
BUCKET = "arn:aws:s3:::pool-files"
ACTIONS = ["s3:GetObject", "s3:PutObject", "s3:PutObjectTagging"]
Json = dict[str, Any]


def test_a_model_without_files_has_no_word_of_s3() -> None:
    assert "s3" not in json.dumps(documents(SHIPPED))
    assert "vpc-endpoint-files.json" not in documents(SHIPPED)


def test_the_documents_pass_every_check_and_are_explained() -> None:
    assert unsafe_policies(MODEL) == []
    for name, document in documents(MODEL).items():
        assert about(MODEL, name)
        for clause in document["Statement"]:
            assert words(name, clause["Sid"]), (name, clause["Sid"])


def may(role: str, action: str, key: str, tenant: str | None = "acme", subject: str | None = None) -> bool:
    tags = {"TenantId": tenant, "GatewayRole": role, "Subject": subject}
    context = {f"aws:PrincipalTag/{name}": value for name, value in tags.items() if value is not None}
    request = Authorisation(f"s3:{action}", f"{BUCKET}/{key}", context)
    return evaluate(generated(MODEL).policy_set(role, PLACE), request).allowed


@pytest.mark.parametrize(
    ("role", "scan", "signature", "picture"),
    [
        ("admin", "rwt", "rwt", "rwt"),
        ("editor", "rwt", "rwt", "rwt"),
        ("viewer", "r", "r", "r"),
        ("support", "r", "", "r"),
        ("member", "", "", "rwt"),
    ],
)
def test_a_role_has_the_files_of_its_attributes(role: str, scan: str, signature: str, picture: str) -> None:
    subject = "m-1" if role == "member" else None
    for path, granted in (
        ("Paper/scan/p-1", scan),
        ("Paper/signature/p-1", signature),
        ("Avatar/picture/m-1", picture),
    ):
        for letter, action in zip("rwt", ("GetObject", "PutObject", "PutObjectTagging"), strict=True):
            assert may(role, action, f"acme/{path}/x", subject=subject) is (letter in granted), (path, action)
            assert not may(role, action, f"globex/{path}/x", subject=subject)
            assert not may(role, action, f"acme/{path}/x", tenant=None, subject=subject)
        assert not may(role, "DeleteObject", f"acme/{path}/x", subject=subject)


def test_a_member_has_its_own_alone() -> None:
    assert not may("member", "GetObject", "acme/Avatar/picture/m-2/x", subject="m-1")
    assert not may("member", "GetObject", "acme/Avatar/picture/m-1/x")


def _resource(name: str, change: Callable[[str], str]) -> Callable[[Json], None]:
    def changed(made: Json) -> None:
        clause = next(each for each in made["Statement"] if each["Sid"] in ("OwnFiles", "Files"))
        clause[name] = [change(each) for each in clause["Resource"]]

    return changed


def _own(**values: Any) -> Callable[[Json], None]:
    def changed(made: Json) -> None:
        next(each for each in made["Statement"] if each["Sid"] in ("OwnFiles", "Files")).update(values)

    return changed


def _without(sid: str) -> Callable[[Json], None]:
    def changed(made: Json) -> None:
        made["Statement"] = [each for each in made["Statement"] if each["Sid"] != sid]

    return changed


_TAG = "${aws:PrincipalTag/TenantId}"
WEAKER: dict[str, tuple[str, Callable[[Json], None]]] = {
    "every object": ("tenant-role.json", _resource("Resource", lambda text: text.replace(f"{_TAG}/", ""))),
    "a longer tenant": ("tenant-role.json", _resource("Resource", lambda text: text.replace(f"{_TAG}/*", f"{_TAG}*"))),
    "any tenant": ("boundary.json", _resource("Resource", lambda text: text.replace(_TAG, "*"))),
    "one tenant": ("boundary.json", _resource("Resource", lambda text: text.replace(_TAG, "acme"))),
    "any bucket": ("boundary.json", _resource("Resource", lambda text: text.replace("<bucket>", "*"))),
    "all but": ("tenant-role.json", _own(NotResource=["arn:aws:s3:::x/*"])),
    "no guard": ("tenant-role.json", _own(Condition={"Bool": {"aws:SecureTransport": "true"}})),
    "every action": ("tenant-role.json", _own(Action=["s3:*"])),
    "deletion": ("tenant-role.json", _own(Action=[*ACTIONS, "s3:DeleteObject"])),
    "listing": ("session-viewer.json", _own(Action=["s3:GetObject", "s3:ListBucket"])),
    "session of any tenant": ("session-viewer.json", _resource("Resource", lambda text: "arn:*:s3:::*")),
    "no denial": ("tenant-role.json", _without("NeverForeignFiles")),
}


@pytest.mark.parametrize("title", WEAKER)
def test_a_weaker_document_is_noticed(title: str) -> None:
    name, change = WEAKER[title]
    made = copy.deepcopy(documents(MODEL)[name])
    change(made)
    if "NotResource" in made["Statement"][2] and "Resource" in made["Statement"][2]:
        del made["Statement"][2]["Resource"]
    parsed = parse(render(made, LONGEST), kind_of(name))
    assert [each for each in (*lint(parsed), *review(parsed)) if each.level == "error"]


def test_the_gateways_own_role_has_no_files() -> None:
    gateway = generated(MODEL).document("gateway-role.json", Deployment.of_role(PLACE.tenant_role, "eu-west-1", "pool"))
    denied = evaluate(PolicySet((gateway,)), Authorisation("s3:GetObject", f"{BUCKET}/acme/x", {}))
    assert "NoDataOfItsOwn" in denied.reason  # type: ignore[union-attr]  # a denial, which has a reason
