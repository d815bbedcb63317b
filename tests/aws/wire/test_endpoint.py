"""A target is a plain endpoint; its Host header is what botocore would send."""

import pytest
from botocore.loaders import Loader

from gateway.aws.wire.endpoint import AwsEndpoint, AwsTarget, endpoint
from gateway.errors import ConfigurationError


def test_the_public_endpoint_follows_the_partition_of_the_region() -> None:
    partitions = Loader().load_data("partitions")["partitions"]
    checked = 0
    for partition in partitions:
        for region in partition["regions"]:
            if not region.endswith("-global"):
                url = f"https://dynamodb.{region}.{partition['outputs']['dnsSuffix']}"
                assert AwsTarget.regional("dynamodb", region) == AwsTarget(url, region)
                checked += 1
    assert checked > 30


@pytest.mark.parametrize("region", ["", "eu-west-1.evil.example/", "EU-WEST-1", "local", "eu-west-1\n"])
def test_an_endpoint_is_not_built_from_what_is_not_a_region(region: str) -> None:
    with pytest.raises(ConfigurationError):
        AwsTarget.regional("dynamodb", region)


@pytest.mark.parametrize(
    ("url", "expected", "authority"),
    [
        ("https://dynamodb.eu-west-1.amazonaws.com", ("https", "dynamodb.eu-west-1.amazonaws.com", 443), None),
        ("https://Dynamo.Example:443/", ("https", "dynamo.example", 443), "dynamo.example"),
        ("http://localhost:8000", ("http", "localhost", 8000), "localhost:8000"),
        ("http://dynamo_db:80", ("http", "dynamo_db", 80), "dynamo_db"),
        ("https://127.0.0.1:80", ("https", "127.0.0.1", 80), "127.0.0.1:80"),
        ("http://[::1]:8000", ("http", "::1", 8000), "[::1]:8000"),
        ("http://[::1]", ("http", "::1", 80), "[::1]"),
    ],
)
def test_the_host_header_names_the_port_only_where_it_is_unusual(
    url: str, expected: tuple[str, str, int], authority: str | None
) -> None:
    found = endpoint(AwsTarget(url, "local"))
    assert found == AwsEndpoint(*expected)
    assert found.authority == (authority or expected[1])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "dynamodb.eu-west-1.amazonaws.com",
        "ftp://host",
        "http://",
        "http://host/path",
        "http://host?query",
        "http://host#fragment",
        "http://host:port",
        "http://host:99999",
        "http://host:0",
        "http://ho st",
        "http://host\r\nX-Evil: 1",
        "http://höst",
        "http://[::1",
        "http://user:secret@host",
    ],
)
def test_an_endpoint_is_scheme_host_and_port_only(url: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        AwsTarget(url, "eu-west-1")
    assert "secret" not in refused.value.message


@pytest.mark.parametrize("region", ["", "eu west", "a\nb", "x" * 41, "eu/west"])
def test_a_region_fits_into_a_credential_scope(region: str) -> None:
    with pytest.raises(ConfigurationError, match="not a region"):
        AwsTarget("http://localhost:8000", region)
