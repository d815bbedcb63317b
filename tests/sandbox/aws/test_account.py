from dataclasses import replace

from gateway.sandbox.aws.account import Account, Registry, administrator, assumed, lasting_keys, session_keys

ACCOUNT = Account("222233334444", "eu-west-1")


def test_keys_look_like_those_of_aws_and_are_never_the_same() -> None:
    made = [lasting_keys() for _ in range(50)] + [session_keys(1.0) for _ in range(50)]
    assert {keys.access_key[:4] for keys in made} == {"AKIA", "ASIA"}
    assert {len(keys.access_key) for keys in made} == {20}
    assert len({keys.access_key for keys in made}) == len({keys.secret_key for keys in made}) == 100


def test_a_secret_is_in_no_text_of_its_holder() -> None:
    holder = administrator(ACCOUNT)
    assert holder.credentials.secret_key not in repr(holder)


def test_the_oldest_sessions_are_forgotten_and_lasting_keys_never() -> None:
    registry = Registry(kept=3)
    admin = administrator(ACCOUNT)
    registry.add(admin)
    sessions = [replace(admin, credentials=session_keys(1.0)) for _ in range(5)]
    for session in sessions:
        registry.add(session)
    found = [registry.find(session.credentials.access_key) for session in sessions]
    assert found == [None, None, *sessions[2:]]
    assert registry.find(admin.credentials.access_key) is admin


def test_a_session_is_named_by_its_role_without_the_path() -> None:
    arn = assumed("arn:aws:iam::222233334444:role/teams/shop/gateway-tenant", "viewer@acme")
    assert arn == "arn:aws:sts::222233334444:assumed-role/gateway-tenant/viewer@acme"
