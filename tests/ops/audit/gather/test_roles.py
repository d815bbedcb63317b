import json
from urllib.parse import quote

import pytest

from gateway.iam.policies.generate import BOUNDARY_FILE, TENANT_FILE, TRUST_FILE
from gateway.ops.audit.facts import Facts, NotHere, UnknownFact
from gateway.ops.audit.gather.account import AuditedAccount, FactUnavailable, Live
from gateway.ops.audit.gather.roles import document, role_facts
from tests.ops.audit.fixtures import TENANT_ROLE, client, policy
from tests.ops.audit.scripted import Scripted
from tests.ops.audit.spoil import role_of


def test_a_role_comes_with_every_document(facts: Facts) -> None:
    role = role_of(facts, "tenant_role")
    assert role.trust == policy(TRUST_FILE)
    assert role.policies == {"own-rows": policy(TENANT_FILE)}
    assert role.boundary == policy(BOUNDARY_FILE)
    assert role.longest_session == 3_600


def test_attached_policies_count_as_well(account: AuditedAccount) -> None:
    extra = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
    made = client("iam").create_policy(PolicyName="extra", PolicyDocument=json.dumps(extra))
    client("iam").attach_role_policy(RoleName="shop-prod-tenant", PolicyArn=made["Policy"]["Arn"])
    live = Live(account)
    assert role_facts(live, TENANT_ROLE, "--tenant-role").policies["extra"] == extra
    live.close()


def test_a_role_of_another_account_is_not_taken_for_ours() -> None:
    live = Scripted({"get_role": {"Role": {"Arn": "arn:aws:iam::999999999999:role/x"}}})
    with pytest.raises(FactUnavailable, match=", not"):
        role_facts(live, "arn:aws:iam::123456789012:role/x", "--tenant-role")


def test_a_role_that_is_not_named_is_unknown_and_never_passes() -> None:
    with pytest.raises(FactUnavailable) as caught:
        role_facts(Scripted({}), None, "--tenant-role")
    assert caught.value.missing == UnknownFact("the role is not named", "give `--tenant-role`")


def test_where_there_is_no_iam_no_role_is_looked_for() -> None:
    with pytest.raises(FactUnavailable) as caught:
        role_facts(Scripted({}, endpoint="http://127.0.0.1:1"), None, "--tenant-role")
    assert isinstance(caught.value.missing, NotHere)


def test_documents_are_read_in_every_form() -> None:
    given: dict[str, object] = {"Statement": []}
    assert document(given) == document(json.dumps(given)) == document(quote(json.dumps(given))) == given
    assert document("no json") == document(None) == document("[1]") == {}
