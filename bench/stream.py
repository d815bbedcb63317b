"""The reader of the table's stream: notes per second and core, and the time from a write to its note.

Three parts: records to notes alone, notes through the bus to subscribers, and writes on the embedded engine until their
notes arrive. The last one includes moto, which writes and reads the stream in the same process.
"""

import asyncio
import secrets
import time
from typing import Any

from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from gateway.stream.reader import ReaderRules
from gateway.stream.records import note_of
from tests.stream.streaming import SPEC, streamed, until

RECORDS, WRITES = 20_000, 300


def record(number: int) -> dict[str, Any]:
    key = {"PK": {"S": f"TENANT#acme#ORDER#{number % 100}"}, "SK": {"S": "META"}}
    image = {
        **key,
        "EntityType": {"S": "Order"},
        "status": {"S": "PENDING"},
        "total": {"N": "12"},
        "GSI1PK": {"S": "TENANT#acme#STATUS#PENDING#0"},
        "GSI1SK": {"S": "2026"},
        **{f"attribute{n}": {"S": secrets.token_hex(8)} for n in range(8)},
    }
    new = {**image, "status": {"S": "PAID"}, "GSI1PK": {"S": "TENANT#acme#STATUS#PAID#0"}}
    content = {"Keys": key, "OldImage": image, "NewImage": new, "SequenceNumber": str(number + 1)}
    return {"eventName": "MODIFY", "dynamodb": content}


def show(what: str, count: int, seconds: float) -> None:
    print(f"   {what:<55} {count / seconds:>10,.0f} /s")


async def main() -> None:
    records = [record(number) for number in range(RECORDS)]
    started = time.process_time()
    notes = [note for each in records if (note := note_of(SPEC, "s", each)) is not None]
    show("records to notes", len(notes), time.process_time() - started)
    bus, received = InProcessBus(), list[ChangeNote]()
    bus.subscribe("acme", received.append)
    started = time.process_time()
    for start in range(0, RECORDS, 1_000):
        await bus.publish(notes[start : start + 1_000])
    show("notes through the bus to one subscriber", len(received), time.process_time() - started)
    await latency()


async def latency() -> None:
    """One write at a time, with the rules of production."""
    async with streamed() as place:
        bus = InProcessBus()
        arrived: dict[str, float] = {}
        bus.subscribe("acme", lambda note: arrived.setdefault(note.pk, time.perf_counter()))
        task = asyncio.create_task(place.reader(bus, ReaderRules()).run())
        await place.put("acme", "first")
        await until(lambda: len(arrived) == 1)
        waits = []
        for number in range(WRITES):
            await place.put("acme", str(number))
            written = time.perf_counter()
            key = f"TENANT#acme#USER#{number}"
            await until(lambda key=key: key in arrived)  # type: ignore[misc]
            waits.append(max(0.0, arrived[key] - written))
        task.cancel()
        await asyncio.wait([task])
    waits.sort()
    p50, p99 = (waits[int(len(waits) * share)] * 1000 for share in (0.5, 0.99))
    print(f"   write to note, polled every 0.25 s: p50 {p50:.0f} ms, p99 {p99:.0f} ms ({WRITES} writes)")


if __name__ == "__main__":
    asyncio.run(main())
