import pytest

from gateway.ops.audit.checks.encryption import encryption
from gateway.ops.audit.facts import KeyFacts, Unknown
from gateway.ops.audit.lines import Case, Verdict
from tests.ops.audit.spoil import changed, failures, verdicts


@pytest.mark.parametrize(
    ("key", "fact"),
    [
        (None, "the table is encrypted with DynamoDB's own key, which nobody can withdraw"),
        (
            KeyFacts("AWS", "Enabled", rotates=False),
            "the table is encrypted with a key that AWS manages: its policy is not ours",
        ),
        (
            KeyFacts("CUSTOMER", "PendingDeletion", rotates=True),
            "the key of the table is PendingDeletion: DynamoDB loses the table",
        ),
        (KeyFacts("CUSTOMER", "Enabled", rotates=False), "the key of the table does not rotate"),
    ],
)
def test_a_table_without_a_key_of_the_account_that_works_and_rotates_fails(
    case: Case, key: KeyFacts | None, fact: str
) -> None:
    assert failures(encryption, changed(case, key=key)) == [fact]


def test_a_key_of_the_account_passes_and_one_that_may_not_be_read_is_unknown(case: Case) -> None:
    assert verdicts(encryption(case)) == {Verdict.PASS}
    assert verdicts(encryption(changed(case, key=Unknown("why")))) == {Verdict.UNKNOWN}
