"""One semantics: the formula of a policy decides every request as the evaluator does.

Some thousands of them here, more than 100,000 by `make prove-random`.
"""

from collections.abc import Mapping
from random import Random

import pytest

from gateway.demo import MODEL
from gateway.iam.formal.compiler import FormulaCompiler, allowed
from gateway.iam.formal.interpreter import evaluator, facts
from gateway.iam.formal.specification import KEYS, SPLITS
from gateway.iam.formal.string_patterns import Split
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.hidden_data import personal_attributes
from gateway.iam.policies.policies import generated
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.policies.roles import ITEM_ACTIONS
from tests.iam.formal.requests import document, request
from tests.policies.cases import ELSEWHERE
from tests.policies.fixtures import DEPLOYMENT, INDEXES, TABLE

EACH = 600  # `make prove-random` compares 20,000
DOCUMENTS = 60
OF_EACH = 100
TENANTS = ("acme", "acme2", "globex", "a", "")
PATHS = (*("", "#", "#USER#1", "#ORDER#1") * 3, "#EMAIL#a@b", "#PHONE#1", "USER#1")
ODD_KEYS = ("TENANT", "TENANT#", "tenant#acme#1", "", "USER#1", "TENANT#*", "#TENANT#acme")
ATTRIBUTES = (*("PK", "SK", "status", "version") * 6, *personal_attributes(MODEL))
ACTIONS = (*(f"dynamodb:{name}" for name in (*ITEM_ACTIONS * 12, *sorted(EVERY_ACTION))), "kms:Decrypt", "s3:GetObject")
VIA = ("dynamodb.eu-west-1.amazonaws.com", "dynamodb.us-east-1.amazonaws.com", "s3.eu-west-1.amazonaws.com")


SUBJECTS = ("u-1", "u-2")


def shop_request(random: Random) -> Authorisation:
    """Near to what is allowed: one thing is wrong, or two."""
    tenant = random.choice(TENANTS)
    keys = [_key(random, tenant) for _ in range(random.choice((0, 1, 1, 1, 2, 3)))]
    context: dict[str, Value] = {"aws:PrincipalTag/TenantId": tenant} if random.random() < 0.95 else {}
    if random.random() < 0.9:
        context["aws:PrincipalTag/Subject"] = random.choice(SUBJECTS)
    if keys or random.random() < 0.5:
        context["dynamodb:LeadingKeys"] = tuple(dict.fromkeys(keys))
    if random.random() < 0.8:
        context["dynamodb:Attributes"] = tuple(dict.fromkeys(random.choices(ATTRIBUTES, k=random.randint(0, 3))))
    if random.random() < 0.8:
        context["dynamodb:Select"] = random.choice(("SPECIFIC_ATTRIBUTES",) * 3 + ("COUNT", "ALL_ATTRIBUTES", ""))
    if random.random() < 0.8:
        context["dynamodb:ReturnValues"] = random.choice(("NONE", "NONE", "ALL_OLD"))
    context["kms:ViaService"] = random.choice(VIA)
    context["kms:EncryptionContext:aws:dynamodb:tableName"] = random.choice(("shop-table", "other"))
    resources = (*(TABLE,) * 6, *INDEXES, *ELSEWHERE, "*", "arn:aws:kms:eu-west-1:123456789012:key/1")
    return Authorisation(random.choice(ACTIONS), random.choice(resources), context)


def _key(random: Random, tenant: str) -> str:
    if random.random() < 0.3:
        return f"TENANT#{tenant}#USER#{random.choice(SUBJECTS)}"
    owner = tenant if random.random() < 0.8 else random.choice(TENANTS)
    return f"TENANT#{owner}{random.choice(PATHS)}" if random.random() < 0.95 else random.choice(ODD_KEYS)


@pytest.mark.parametrize("role", tuple(MODEL.all_roles))
def test_the_shipped_policies_are_decided_alike(role: str) -> None:
    shipped_agree(role, EACH)


def shipped_agree(role: str, count: int) -> int:
    """How many requests were compared."""
    random = Random(role)
    policies = generated(MODEL).policy_set(role, DEPLOYMENT)
    formula = evaluator(allowed(FormulaCompiler(SPLITS).layers(policies)), SPLITS)
    verdicts = {True: 0, False: 0}
    for _ in range(count):
        authorisation = shop_request(random)
        verdict = evaluate(policies, authorisation).allowed
        # tests/iam/dynamodb/test_partial_evaluation_random.py compares prepared permissions
        assert formula(facts(authorisation)) is verdict, authorisation
        verdicts[verdict] += 1
    # a random request is seldom about the subject's own rows
    common = count // (1_000 if MODEL.all_roles[role].own else 100)
    assert min(verdicts.values()) > common, "both verdicts are common"
    return count


@pytest.mark.parametrize("splits", [{}, SPLITS], ids=["whole", "split"])
def test_any_policies_are_decided_alike(splits: Mapping[str, Split]) -> None:
    any_agree(splits, DOCUMENTS)


def any_agree(splits: Mapping[str, Split], count: int) -> int:
    """Every operator, every quantifier, variables with and without a value, texts whole and in parts."""
    random = Random(7 if splits else 8)
    verdicts = {True: 0, False: 0}
    for _ in range(count):
        policies = PolicySet(
            tuple(document(random, "identity") for _ in range(random.randint(1, 2))),
            (document(random, "session"),) if random.random() < 0.3 else None,
            document(random, "boundary") if random.random() < 0.3 else None,
        )
        formula = evaluator(allowed(FormulaCompiler(splits).layers(policies)), splits)
        for _ in range(OF_EACH):
            authorisation = request(random)
            if splits and "#" in str(authorisation.context.get("aws:PrincipalTag/TenantId", "")):
                continue  # STS takes no such tag, and split texts are for values without the delimiter
            verdict = evaluate(policies, authorisation).allowed
            assert formula(facts(authorisation)) is verdict, (policies, authorisation)
            verdicts[verdict] += 1
    assert min(verdicts.values()) > count
    return sum(verdicts.values())


def test_keys_are_split() -> None:
    assert KEYS in SPLITS
