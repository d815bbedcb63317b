"""gzip is unpacked only as far as it may be long, and sent only to those who accept it."""

import gzip
import random
import tracemalloc

import pytest

from gateway.graph.http.compression import NotGzip, TooLong, accepts_gzip, compressed, unpacked


@pytest.mark.parametrize("size", [0, 1, 999, 1_000])
def test_what_is_packed_is_unpacked(size: int) -> None:
    assert unpacked(compressed(b"x" * size), 1_000) == b"x" * size


@pytest.mark.parametrize(
    "content",
    [b"", b"x", b'{"data":{"user":{"name":"Ada"}}}' * 5_000, random.Random(1).randbytes(300_000)],
    ids=["empty", "one byte", "json", "noise"],
)
def test_any_client_can_unpack_it(content: bytes) -> None:
    packed = compressed(content)
    assert gzip.decompress(packed) == content
    assert len(packed) < len(content) * 1.001 + 100


def test_equal_answers_are_packed_equally() -> None:
    # the header contains no time
    assert compressed(b"abc" * 1_000)[4:8] == bytes(4)


@pytest.mark.parametrize("size", [1_001, 100_000])
def test_one_byte_too_much_is_too_long(size: int) -> None:
    with pytest.raises(TooLong):
        unpacked(gzip.compress(b"x" * size), 1_000)


def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(20_000_000))
    assert len(bomb) < 25_000
    tracemalloc.start()
    try:
        with pytest.raises(TooLong):
            unpacked(bomb, 1_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1_000_000


@pytest.mark.parametrize(
    "content",
    [b"no gzip at all", b"", gzip.compress(b"abc")[:-3], gzip.compress(b"a") + gzip.compress(b"b"), b"\x1f\x8b"],
    ids=["plain", "empty", "cut off", "two streams", "a header alone"],
)
def test_what_is_not_one_whole_stream_is_refused(content: bytes) -> None:
    with pytest.raises(NotGzip):
        unpacked(content, 1_000)


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("GZip, deflate, br", True),
        ("br, gzip;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0, *", False),
        ("*", True),
        ("*;q=0, gzip", True),
        ("identity, *;q=0", False),
        ("gzipped", False),
        ("deflate", False),
        (", ".join(["gzip"] * 1_000), False),
    ],
)
def test_gzip_goes_to_those_who_accept_it(header: str | None, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted
