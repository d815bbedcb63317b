import pytest

from gateway.ops.audit.checks.retention import encryption
from gateway.ops.audit.facts import KeyFacts, UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.spoil import changed, failures, verdicts


@pytest.mark.parametrize(
    ("key", "fact"),
    [
        (None, "the table is encrypted with DynamoDB's own key, which cannot be revoked"),
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
    assert verdicts(encryption(case)) == {LineVerdict.PASS}
    assert verdicts(encryption(changed(case, key=UnknownFact("why")))) == {LineVerdict.UNKNOWN}
