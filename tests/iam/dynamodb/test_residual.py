"""What is left to ask of the leading keys: of a list of them, and of the text in which they are sent."""

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.iam.dynamodb.residual import END, SUBJECT, Residual, marker_of
from tests.drawn import drawn

OWN = "TENANT#acme#"
PK = marker_of("PK")
PERSONAL = Residual(forbidden=("EMAIL#", "PHONE#"))
ORDERS = Residual(required=(("ORDER#", "USER#"),))


def batch(keys: list[str], **more: Any) -> dict[str, Any]:
    return {"RequestItems": {"orders": {"Keys": [{"PK": {"S": key}, "SK": {"S": "x"}} for key in keys]}}, **more}


def written(body: dict[str, Any], *, ascii_only: bool = False) -> str:
    return json.dumps(body, separators=(",", ":"), ensure_ascii=ascii_only)


@pytest.mark.parametrize(
    ("residual", "keys", "allowed"),
    [
        (Residual(), [f"{OWN}USER#1"], True),
        (Residual(), [OWN], True),
        (Residual(), [f"{OWN}USER#1", "TENANT#globex#USER#1"], False),
        (Residual(), ["TENANT#acme-2#USER#1"], False),
        (Residual(), ["TENANT#acme"], False),
        (Residual(), ["TENANT#*#USER#1"], False),
        (Residual(), ["\nTENANT#acme#USER#1"], False),
        (Residual(), [f"{OWN}\n"], True),
        (Residual(), [""], False),
        (Residual(), [], False),
        (PERSONAL, [f"{OWN}USER#1", f"{OWN}EMAIL"], True),
        (PERSONAL, [f"{OWN}USER#1", f"{OWN}EMAIL#a"], False),
        (PERSONAL, [f"{OWN}PHONE#\n"], False),
        (ORDERS, [f"{OWN}USER#1", f"{OWN}ORDER#1"], True),
        (ORDERS, [f"{OWN}USER#1", f"{OWN}STATUS#1"], False),
    ],
)
def test_keys_are_the_tenants_own_and_nothing_that_is_forbidden(
    residual: Residual, keys: list[str], allowed: bool
) -> None:
    assert residual.allows(keys, OWN) is allowed
    assert residual.allows_text(written(batch(keys)), PK, OWN, len(keys)) is allowed


MINE = Residual(required=((f"USER#{SUBJECT}{END}", "PRODUCT#"),))


@pytest.mark.parametrize(
    ("subject", "keys", "allowed"),
    [
        ("ann", [f"{OWN}USER#ann"], True),
        ("ann", [f"{OWN}USER#ann", f"{OWN}PRODUCT#1"], True),
        ("ann", [f"{OWN}USER#ann", f"{OWN}USER#bob"], False),
        ("ann", [f"{OWN}USER#anna"], False),
        ("ann", [f"{OWN}USER#an"], False),
        ("ann", [f"{OWN}USER#ann#below"], False),
        ("ann", ["TENANT#globex#USER#ann"], False),
        (None, [f"{OWN}USER#ann"], False),
        (None, [f"{OWN}PRODUCT#1"], False),
        ("", [f"{OWN}USER#"], False),
        (SUBJECT, [f"{OWN}USER#{SUBJECT}"], False),
        (f"a{END}", [f"{OWN}USER#a{END}"], False),
    ],
)
def test_keys_that_hold_the_subject_are_those_of_the_session(
    subject: str | None, keys: list[str], allowed: bool
) -> None:
    assert MINE.allows(keys, OWN, subject) is allowed
    assert MINE.allows_text(written(batch(keys)), PK, OWN, len(keys), subject) is allowed


def test_a_residual_that_needs_a_subject_keeps_the_need_with_others() -> None:
    needs = Residual(subject=True)
    assert not needs.allows([f"{OWN}X#1"], OWN)
    assert needs.allows([f"{OWN}X#1"], OWN, "ann")
    for both in (needs.also(ORDERS), ORDERS.also(needs)):
        assert not both.allows([f"{OWN}USER#1"], OWN)
        assert both.allows([f"{OWN}USER#1"], OWN, "ann")
        assert not both.allows([f"{OWN}STATUS#1"], OWN, "ann")


@pytest.mark.parametrize("own", ["", "TENANT#", "TENANT##", "TENANT#acme", "T", 'TENANT#a"#', "TENANT#a\\#"])
def test_what_is_no_prefix_of_a_tenant_allows_nothing(own: str) -> None:
    key = f"{own}#x"
    assert Residual().allows([key], own) is (own in ('TENANT#a"#', "TENANT#a\\#"))
    assert not Residual().allows_text(written(batch([key])), PK, own, 1)
    assert not Residual().allows_text(f'{{"PK":{{"S":"{own}x"}}}}', PK, own, 1)


@pytest.mark.parametrize(
    "text",
    [
        # twice in one object; below another attribute; a name that ends like the marker
        '{"Key":{"PK":{"S":"TENANT#acme#1"},"PK":{"S":"TENANT#globex#1"}}}',
        '{"Item":{"PK":{"S":"TENANT#globex#1"},"other":{"M":{"PK":{"S":"TENANT#acme#1"}}}}}',
        '{"Item":{"PK":{"S":"TENANT#globex#1"},"x\\"PK":{"S":"TENANT#acme#1"}}}',
        '{"Item":{"PK":{"S":"\\u0054ENANT#acme#1"}}}',
        "{}",
    ],
)
def test_a_text_with_more_or_fewer_keys_than_own_ones_is_left_to_the_evaluator(text: str) -> None:
    assert not Residual().allows_text(text, PK, OWN, 1)


def test_a_value_that_looks_like_a_key_changes_nothing() -> None:
    decoy = {"note": {"S": 'x","PK":{"S":"TENANT#acme#1'}}
    assert Residual().allows_text(written({"Item": {"PK": {"S": f"{OWN}1"}, **decoy}}), PK, OWN, 1)
    assert not Residual().allows_text(written({"Item": {"PK": {"S": "TENANT#globex#1"}, **decoy}}), PK, OWN, 1)


def test_an_escape_does_not_hide_what_is_forbidden() -> None:
    text = '{"Key":{"PK":{"S":"TENANT#acme#\\u0045MAIL#a"}}}'
    assert json.loads(text)["Key"]["PK"]["S"] == f"{OWN}EMAIL#a"
    assert not PERSONAL.allows_text(text, PK, OWN, 1)
    assert not Residual(required=(("ORDER#",),)).allows_text(text, PK, OWN, 1)


def test_a_prefix_of_another_one_is_not_counted_twice() -> None:
    nested = Residual(required=(("ORDER#", "ORDER#2026#"),))
    assert nested.required == (("ORDER#",),)
    keys = [f"{OWN}ORDER#2026#1", f"{OWN}USER#1"]
    assert not nested.allows_text(written(batch(keys)), PK, OWN, 2)


def test_the_end_of_a_key_is_no_required_quote() -> None:
    assert not Residual(required=(('"',),)).allows_text(written(batch([OWN])), PK, OWN, 1)


def test_residuals_together_ask_for_all_of_both() -> None:
    both = PERSONAL.also(ORDERS).also(Residual(forbidden=("USER#9",)))
    assert both.allows([f"{OWN}USER#1"], OWN)
    for path in ("EMAIL#1", "USER#9", "STATUS#1"):
        assert not both.allows([f"{OWN}{path}"], OWN)


@pytest.mark.parametrize("name", ["", 'P"K', "P\\K", "P\nK", "schl\u00fcssel"])
def test_a_name_that_json_may_write_in_two_ways_has_no_marker(name: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        marker_of(name)


hostile = st.sampled_from(
    ['"', "\\", '\\"', '"PK":{"S":"', '","PK":{"S":"TENANT#acme#', OWN, "TENANT#", "EMAIL#", "ORDER#", "\n", "\u0000"]
)
texts = st.lists(hostile | st.text(max_size=3), max_size=4).map("".join)
leading = st.one_of(
    texts.map(lambda text: OWN + text), texts, st.sampled_from(["TENANT#acme-2#x", f"{OWN}EMAIL#a", f"{OWN}ORDER#1"])
).filter(bool)
values = st.recursive(
    texts.map(lambda text: {"S": text}),
    lambda inner: st.dictionaries(st.just("M"), st.dictionaries(texts | st.just("PK"), inner, max_size=2), max_size=1),
    max_leaves=4,
)
residuals = st.builds(
    Residual,
    st.lists(
        st.lists(st.sampled_from(["ORDER#", "USER#", "", "O", '"']), min_size=1, max_size=2).map(tuple), max_size=1
    ).map(tuple),
    st.lists(st.sampled_from(["EMAIL#", "EM", "\\", '"', "\n"]), max_size=2).map(tuple),
)


@settings(deadline=None, max_examples=drawn(600, 30))
@given(residuals, st.lists(leading, max_size=3), st.dictionaries(texts, values, max_size=3), st.booleans())
@example(Residual(), ["TENANT#globex#1"], {'x"PK': {"S": OWN}}, False)
@example(Residual(), ["TENANT#globex#1"], {"x": {"M": {"PK": {"S": OWN}}}}, False)
@example(PERSONAL, [f"{OWN}EMAIL#1"], {}, True)
def test_the_text_never_allows_what_the_keys_do_not(
    residual: Residual, keys: list[str], more: dict[str, Any], ascii_only: bool
) -> None:
    """INVARIANT of `allows_text`: for arbitrary keys, and arbitrary attributes beside them."""
    items = [{"PK": {"S": key}} for key in keys]
    others = {name: value for name, value in more.items() if name != "PK"}
    body = {"RequestItems": {"orders": [{"PutRequest": {"Item": item | others}} for item in items]}}
    text = written(body, ascii_only=ascii_only)
    by_text = residual.allows_text(text, PK, OWN, len(keys))
    assert residual.allows(keys, OWN) or not by_text
    quoted = any('"' in prefix for prefix in residual.forbidden)
    if not quoted and "\\" not in text and text.count('"PK":') == len(keys):
        assert by_text is residual.allows(keys, OWN)


tails = st.sampled_from(["ORDER#", "ORDER#2026#", "EMAIL#", "EMAIL", "E", "USER#", "O", "X#", "", '"', "\\"])
below_tails = st.builds(lambda tail, text: f"{OWN}{tail}{text}", tails, texts | st.just("2026#1"))


@settings(deadline=None, max_examples=drawn(600, 30))
@given(residuals, tails, st.lists(below_tails | leading, min_size=1, max_size=3), st.booleans())
@example(PERSONAL, "EMAIL", [f"{OWN}EMAIL#1"], False)
@example(PERSONAL, "EMAIL#", [f"{OWN}EMAIL#1"], False)
@example(ORDERS, "O", [f"{OWN}OTHER#1"], False)
@example(ORDERS, "ORDER#", [f"{OWN}ORDER#1", f"{OWN}STATUS#1"], False)
def test_a_known_tail_decides_no_key_differently(
    residual: Residual, tail: str, keys: list[str], ascii_only: bool
) -> None:
    """INVARIANT of `below`: it allows the keys with that tail that the residual allows, and no others."""
    narrowed = residual.below(tail)
    expected = residual.allows(keys, OWN) and all(key.startswith(OWN + narrowed.tail) for key in keys)
    assert narrowed.allows(keys, OWN) is expected
    by_text = narrowed.allows_text(written(batch(keys), ascii_only=ascii_only), PK, OWN, len(keys))
    assert expected or not by_text


@pytest.mark.parametrize(
    ("tail", "keys", "allowed"),
    [
        ("USER#", [f"{OWN}USER#ann"], True),
        ("USER#", [f"{OWN}USER#bob"], False),
        ("USER#", [f"{OWN}PRODUCT#1"], False),
        ("PRODUCT#", [f"{OWN}PRODUCT#1"], True),
        ("ORDER#", [f"{OWN}ORDER#1"], False),
    ],
)
def test_a_tail_leaves_what_depends_on_the_subject(tail: str, keys: list[str], allowed: bool) -> None:
    narrowed = MINE.below(tail)
    assert narrowed.allows(keys, OWN, "ann") is allowed
    assert narrowed.allows_text(written(batch(keys)), PK, OWN, len(keys), "ann") is allowed
    assert not narrowed.allows(keys, OWN)


def test_a_forbidden_prefix_that_begins_with_the_subject_may_meet_any_tail() -> None:
    own_rows = Residual(forbidden=(f"{SUBJECT}#",)).below("USER#")
    assert own_rows.forbidden
    assert not own_rows.allows([f"{OWN}USER#1"], OWN, "USER")


@pytest.mark.parametrize(("one", "other"), [(ORDERS.below("ORDER#"), MINE), (MINE, ORDERS.below("ORDER#"))])
def test_a_tail_is_not_lost_by_combining(one: Residual, other: Residual) -> None:
    with pytest.raises(ValueError, match="tail"):
        one.also(other)
