"""What gzip and the checksum of a response cost: ISA-L beside zlib. Run it with `python -m bench compression`."""

import random
import time
import zlib
from collections.abc import Callable
from functools import partial

import orjson
from isal import isal_zlib

SECONDS = 0.5
ROUNDS = 5
_GZIP = 16 + zlib.MAX_WBITS
# the responses of DynamoDB to the page of the comparison with other servers
_ANSWERS = (8_000, 5_500)


def page(orders: int) -> bytes:
    """A response with orders and their users."""
    chance = random.Random(1)
    nodes = [
        {
            "orderId": f"o-{chance.randrange(10**6)}",
            "status": chance.choice(["PLACED", "PAID", "SHIPPED"]),
            "total": f"{chance.randrange(10**5) / 100:.2f}",
            "currency": "EUR",
            "placedAt": f"2026-0{chance.randrange(1, 9)}-1{chance.randrange(9)}T10:0{chance.randrange(9)}:00Z",
            "user": {
                "userId": f"u-{chance.randrange(9_999)}",
                "name": f"{chance.choice(['Ada', 'Grace', 'Edsger'])} {chance.randrange(999)}",
                "email": f"user{chance.randrange(9_999)}@example.com",
            },
        }
        for _ in range(orders)
    ]
    return orjson.dumps({"data": {"reviewQueue": {"nodes": nodes}}})


def cost(work: Callable[[], object]) -> float:
    """The best of some rounds, in microseconds of CPU."""
    rounds = []
    for _ in range(ROUNDS):
        runs, started = 0, time.process_time()
        while (spent := time.process_time() - started) < SECONDS / ROUNDS:
            for _ in range(20):
                work()
            runs += 20
        rounds.append(spent / runs * 1e6)
    return min(rounds)


def checksums(crc32: Callable[[bytes], int], answers: list[bytes]) -> list[int]:
    return [crc32(answer) for answer in answers]


def main() -> None:
    for orders in (10, 25, 100):
        content = page(orders)
        slow = cost(partial(zlib.compress, content, 1, _GZIP))
        for name, library, level in (
            ("zlib", zlib, 1),
            ("zlib", zlib, 6),
            ("isal", isal_zlib, 0),
            ("isal", isal_zlib, 1),
        ):
            packed = library.compress(content, level, _GZIP)
            spent = cost(partial(library.compress, content, level, _GZIP))
            size = f"{len(content):,} to {len(packed):,} bytes"
            print(f"gzip, {name} level {level}: {size:<22} {spent:8.1f} us   {slow / spent:6.1f} x")
    answers = [(page(100) * 2)[:size] for size in _ANSWERS]
    slow = cost(partial(checksums, zlib.crc32, answers))
    for name, crc32 in (("zlib", zlib.crc32), ("isal", isal_zlib.crc32)):
        spent = cost(partial(checksums, crc32, answers))
        print(f"checksum, {name}: {sum(_ANSWERS):,} bytes {spent:29.2f} us   {slow / spent:6.1f} x")


if __name__ == "__main__":
    main()
