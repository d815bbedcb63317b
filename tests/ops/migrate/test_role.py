"""The operator's role, as docs/migrations.md writes it."""

import json
import re
from pathlib import Path

from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation

_PAGE = Path(__file__).parents[3] / "docs" / "migrations.md"
_KEY = "arn:aws:kms:eu-west-1:123456789012:key/1"
_TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/app"
_THROUGH = {
    "kms:ViaService": "dynamodb.eu-west-1.amazonaws.com",
    "kms:EncryptionContext:aws:dynamodb:tableName": "app",
}


def _policies() -> PolicySet:
    found = re.search(r"```json\n(\{\n  \"Version\".*?)```", _PAGE.read_text(), re.DOTALL)
    assert found is not None
    text = found[1].replace("<arn of the table's key>", _KEY)
    for token, value in (("<region>", "eu-west-1"), ("<account>", "123456789012"), ("<table>", "app")):
        text = text.replace(token, value)
    return PolicySet((parse(json.loads(text), "identity"),))


def test_it_may_read_and_repair_the_table_with_a_second_factor_alone() -> None:
    for action in ("Scan", "GetItem", "UpdateItem", "PutItem", "DescribeTable"):
        name = f"dynamodb:{action}"
        assert evaluate(_policies(), Authorisation(name, _TABLE, {"aws:MultiFactorAuthPresent": "true"})).allowed
        assert not evaluate(_policies(), Authorisation(name, _TABLE, {"aws:MultiFactorAuthPresent": "false"})).allowed


def test_it_may_use_the_tables_key_through_dynamodb_for_this_table_alone() -> None:
    def decrypts(**changed: str) -> bool:
        return evaluate(_policies(), Authorisation("kms:Decrypt", _KEY, {**_THROUGH, **changed})).allowed

    assert decrypts()
    assert not decrypts(**{"kms:ViaService": "s3.eu-west-1.amazonaws.com"})
    assert not decrypts(**{"kms:EncryptionContext:aws:dynamodb:tableName": "other"})
