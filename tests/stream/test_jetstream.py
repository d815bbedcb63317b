"""The bus between processes on a real NATS server: order, duplicates, tenants, loss and return, replay."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from random import Random

import anyio
import nats
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gateway.errors import PositionExpired, Unavailable
from gateway.stream import jetstream_bus
from gateway.stream.bus import Deliver
from gateway.stream.cancellation import cancel_and_wait
from gateway.stream.jetstream import BusAddress
from gateway.stream.jetstream_bus import JetStreamBus
from gateway.stream.jetstream_publisher import JetStreamPublisher
from gateway.stream.note import ChangeNote
from tests.stream.nats import NatsServer, followed, nats_server
from tests.stream.streaming import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with nats_server(tmp_path) as running:
        yield running


def note(sequence: int, tenant: str = "acme", shard: str = "s1") -> ChangeNote:
    """Its sort key tells which one it is: the bus gives it another shard and sequence."""
    key, email = f"TENANT#{tenant}#USER#1", f"TENANT#{tenant}#EMAIL#a"
    attributes, before, after = frozenset({"email"}), {"GSI1": (email, "USER#1")}, {"GSI1": (email, "USER#2")}
    return ChangeNote(
        tenant, "User", "primary", key, str(sequence), "changed", attributes, before, after, shard, str(sequence)
    )


def numbers(notes: Sequence[ChangeNote]) -> list[int]:
    return [int(each.sk) for each in notes]


@asynccontextmanager
async def publishing(address: BusAddress) -> AsyncIterator[JetStreamPublisher]:
    publisher = JetStreamPublisher(address)
    try:
        await publisher.connect()
        yield publisher
    finally:
        await publisher.close()


@asynccontextmanager
async def following(address: BusAddress, deliver: Deliver, ring: int = 1_000) -> AsyncIterator[JetStreamBus]:
    bus = JetStreamBus(address, ring)
    bus.subscribe(None, deliver)
    async with bus.running():
        await followed(bus)
        yield bus


async def test_the_next_publisher_continues_with_sequences_of_more_than_64_bits(server: NatsServer) -> None:
    """As those of DynamoDB; rounded, they would make it skip the notes that follow."""
    first = 111_500_000_000_006_326_741_797
    async with publishing(server.address()) as publisher:
        await publisher.publish([note(first + number) for number in range(3)])
    bus = JetStreamBus(server.address())
    async with bus.running():
        await followed(bus)
        notes, position = list[ChangeNote](), dict(bus.position())
        bus.subscribe("acme", notes.append)
        async with publishing(server.address()) as publisher:
            await publisher.publish([note(first + number) for number in range(1, 8)])
        await until(lambda: len(notes) >= 5)
        assert numbers(notes) == [first + number for number in range(3, 8)]
        assert numbers(await bus.replay("acme", position)) == numbers(notes)


async def test_a_note_arrives_as_it_was_sent_but_for_its_position(server: NatsServer) -> None:
    received = list[ChangeNote]()
    sent = dataclasses.replace(note(7), kind="removed", expired=True)
    async with publishing(server.address()) as publisher, following(server.address(), received.append):
        await publisher.publish([sent])
        await until(lambda: len(received) == 1)
    assert dataclasses.replace(received[0], shard=sent.shard, sequence=sent.sequence) == sent


async def test_recent_notes_are_known_once_the_bus_was_followed_for_that_long(server: NatsServer) -> None:
    async with publishing(server.address()) as publisher:
        await publisher.publish([note(1)])
        async with following(server.address(), lambda _: None) as bus:
            assert bus.recent("acme", 3_600) is None  # the first note came before this process
            await until(lambda: bus.recent("acme", 1.0) is not None)
            await publisher.publish([note(2), note(3, "globex")])
            await until(lambda: numbers(bus.recent("acme", 1.0) or ()) == [2])


async def test_subscribers_receive_the_notes_of_their_own_tenant_in_order(server: NatsServer) -> None:
    acme, every = list[ChangeNote](), list[ChangeNote]()
    async with publishing(server.address()) as publisher, following(server.address(), every.append) as bus:
        bus.subscribe("acme", acme.append)
        await publisher.publish([note(1), note(2, "globex"), note(3)])
        await publisher.publish([note(4, "globex"), note(5)])
        await until(lambda: len(every) == 5)
    assert numbers(acme) == [1, 3, 5]
    assert [each.tenant for each in acme] == ["acme"] * 3
    assert numbers([each for each in every if each.tenant == "globex"]) == [2, 4]


async def test_what_another_reader_has_published_is_not_published_again(server: NatsServer) -> None:
    received = list[ChangeNote]()
    address = server.address()
    async with publishing(address) as slow, publishing(address) as fast, following(address, received.append):
        await slow.publish([note(1), note(2)])
        fast.begin("s1", "1")
        await fast.publish([note(2), note(3), note(4)])
        # the slow one learns by the refusal that it is not alone, and what the bus has
        with pytest.raises(Unavailable, match="wrong last sequence"):
            await slow.publish([note(3)])
        await slow.publish([note(3), note(4), note(5)])
        await until(lambda: len(received) == 5)
        await fast.publish([note(1, shard="s2")])
        await until(lambda: len(received) == 6)
    assert numbers(received) == [1, 2, 3, 4, 5, 1]


async def test_nothing_is_lost_while_the_server_is_away(server: NatsServer) -> None:
    received = list[ChangeNote]()
    async with publishing(server.address()) as publisher, following(server.address(), received.append) as bus:
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 1)
        server.kill()
        with pytest.raises(Unavailable, match="the bus takes no notes"):
            await publisher.publish([note(2)])
        await until(lambda: not bus.connected)
        server.start()
        await followed(bus)
        await publisher.publish([note(2), note(3)])
        await until(lambda: len(received) == 3)
        assert (bus.counts.missed, bus.counts.interruptions) == (0, 1)
    assert numbers(received) == [1, 2, 3]


async def test_notes_of_a_process_that_was_cut_off_are_there_when_it_is_back(server: NatsServer) -> None:
    received = list[ChangeNote]()
    async with publishing(server.address()) as publisher, following(server.address(), received.append) as bus:
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 1)
        await bus._link.close()
        await publisher.publish([note(2), note(3)])
        await until(lambda: len(received) == 3)
        assert bus.counts.missed == 0
    assert numbers(received) == [1, 2, 3]


async def test_a_position_is_worth_the_same_in_every_process_beyond_its_memory(server: NatsServer) -> None:
    received = list[ChangeNote]()
    address = server.address()
    async with publishing(address) as publisher, following(address, received.append) as first:
        await publisher.publish([note(1), note(2, "globex")])
        await until(lambda: len(received) == 2)
        position = first.position()
        await publisher.publish([note(3), note(4, "globex"), note(5)])
        await publisher.publish([note(6)])
        await until(lambda: len(received) == 6)
        # a process that started later has none of them in memory
        async with following(address, received.append, ring=1) as second:
            assert numbers(await second.replay("acme", position)) == [3, 5, 6]
            assert numbers(await second.replay("globex", position)) == [4]
            assert numbers(await first.replay("acme", position)) == [3, 5, 6]
            assert await second.replay("acme", first.position()) == []


async def test_a_message_of_another_tenant_is_in_nobodys_replay(server: NatsServer) -> None:
    """Whatever a server sends: it is asked for one tenant's messages, and what comes is looked at again."""
    async with publishing(server.address()) as publisher:
        await publisher.publish([note(1)])
        client = await nats.connect(server.url)
        [message] = await (await client.jetstream().pull_subscribe("changes.>", stream="changes")).fetch(1)
        bus = JetStreamBus(server.address())
        assert numbers(bus._replayed("acme", message, 0)) == [1]
        with pytest.raises(PositionExpired):
            bus._replayed("globex", message, 0)
        await client.close()


async def test_a_position_in_the_middle_of_a_message_replays_the_rest_of_it(server: NatsServer) -> None:
    received, address = list[ChangeNote](), server.address()
    async with publishing(address) as publisher, following(address, received.append, ring=1) as bus:
        await publisher.publish([note(number) for number in range(1, 6)])
        await until(lambda: len(received) == 5)
        position = {received[2].shard: received[2].sequence}
        assert numbers(await bus.replay("acme", position)) == [4, 5]


async def test_a_position_that_the_bus_no_longer_has_is_expired(server: NatsServer) -> None:
    received, address = list[ChangeNote](), server.address()
    async with publishing(address) as publisher, following(address, received.append, ring=1) as bus:
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 1)
        position = bus.position()
        for number in range(2, 6):
            await publisher.publish([note(number)])
        await until(lambda: len(received) == 5)
        client = await nats.connect(server.url)
        await client.jetstream().purge_stream("changes", seq=4)
        await client.close()
        with pytest.raises(PositionExpired):
            await bus.replay("acme", position)
        with pytest.raises(PositionExpired):
            await bus.replay("acme", {"another stream": "1"})
        # what it still has is sent
        assert numbers(await bus.replay("acme", {received[3].shard: received[3].sequence})) == [5]


async def test_while_the_bus_is_away_a_position_beyond_memory_is_refused_for_now(server: NatsServer) -> None:
    received, address = list[ChangeNote](), server.address()
    async with publishing(address) as publisher, following(address, received.append, ring=1) as bus:
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 1)
        position = bus.position()
        await publisher.publish([note(number) for number in range(2, 6)])
        await until(lambda: len(received) == 5)
        server.kill()
        with pytest.raises(Unavailable, match="connect again"):
            await bus.replay("acme", position)
        assert await bus.replay("acme", bus.position()) == []


async def test_after_a_stream_was_recreated_everybody_reads_again(server: NatsServer) -> None:
    received, missed, address = list[ChangeNote](), list[bool](), server.address()
    async with publishing(address) as publisher, following(address, received.append) as bus:
        bus.subscribe("acme", received.append, lambda: missed.append(True))
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 2)
        position = bus.position()
        client = await nats.connect(server.url)
        await client.jetstream().delete_stream("changes")
        await client.close()
        # the next failure of the publisher closes its connection, and the one after makes the stream
        with pytest.raises(Unavailable):
            await publisher.publish([note(2)])
        await publisher.publish([note(2)])
        await until(lambda: bool(missed))
        assert bus.counts.missed == 1
        with pytest.raises(PositionExpired):
            await bus.replay("acme", position)
        await followed(bus)
        await publisher.publish([note(3)])
        await until(lambda: numbers(received)[-1] == 3)


async def test_a_gap_of_the_tables_stream_expires_positions_and_lets_everybody_read_again(server: NatsServer) -> None:
    received, missed, address = list[ChangeNote](), list[bool](), server.address()
    async with publishing(address) as publisher, following(address, received.append) as bus:
        bus.subscribe("acme", lambda each: None, lambda: missed.append(True))
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 1)
        position = bus.position()
        await publisher.gap()
        await until(lambda: bool(missed))
        await publisher.publish([note(9)])
        await until(lambda: len(received) == 2)
        with pytest.raises(PositionExpired):
            await bus.replay("acme", position)
        async with following(address, received.append, ring=1) as other:
            with pytest.raises(PositionExpired):
                await other.replay("acme", position)


def forged(pk: str = "TENANT#acme#USER#1", index_pk: str = "TENANT#acme#X") -> bytes:
    known = {"entity": "User", "place": "primary", "sk": "1", "kind": "changed", "attributes": [], "expired": False}
    row = {**known, "pk": pk, "before": {}, "after": {"GSI1": [index_pk, "1"]}}
    return json.dumps({"v": 1, "until": 1, "notes": [row]}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"no json",
        b'{"v":2,"until":1,"notes":[]}',
        b'{"v":1,"until":1,"notes":[{"pk":"TENANT#acme#USER#1"}]}',
        # of another tenant than its subject
        forged(pk="TENANT#globex#USER#1"),
        forged(index_pk="TENANT#globex#X"),
    ],
)
async def test_a_message_that_is_not_ours_is_rejected_and_everything_is_read_again(
    server: NatsServer, content: bytes
) -> None:
    received, missed, address = list[ChangeNote](), list[bool](), server.address()
    async with publishing(address) as publisher, following(address, received.append) as bus:
        bus.subscribe("acme", received.append, lambda: missed.append(True))
        client = await nats.connect(server.url)
        await client.jetstream().publish("changes.notes.s9.acme", content)
        await client.close()
        await until(lambda: bus.counts.rejected == 1)
        assert (received, missed) == ([], [True])
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 2)


async def test_a_process_waits_for_what_another_one_has_sent(server: NatsServer) -> None:
    received, address = list[ChangeNote](), server.address()
    async with publishing(address) as publisher, following(address, received.append) as bus:
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 1)
        ahead = {received[0].shard: str(received[0].order + 1_000)}
        async with anyio.create_task_group() as group:
            group.start_soon(bus.reached, ahead)
            await anyio.sleep(0.05)
            assert len(received) == 1
            await publisher.publish([note(2)])
        assert len(received) == 2


async def test_before_the_bus_was_reached_no_position_is_called_expired(server: NatsServer) -> None:
    received, address = list[ChangeNote](), server.address()
    async with publishing(address) as publisher, following(address, received.append) as bus:
        await publisher.publish([note(1)])
        await until(lambda: len(received) == 1)
        position = bus.position()
        server.kill()
        fresh = JetStreamBus(address)
        async with fresh.running():
            with pytest.raises(Unavailable, match="connect again"):
                await fresh.replay("acme", position)
            async with anyio.create_task_group() as group:
                group.start_soon(fresh.reached, position)
                await anyio.sleep(0.05)
                server.start()
            assert fresh.connected
            assert await fresh.replay("acme", position) == []


async def test_a_defect_does_not_leave_a_process_without_changes(
    server: NatsServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    received, missed, address = list[ChangeNote](), list[bool](), server.address()
    async with publishing(address) as publisher, following(address, received.append) as bus:
        bus.subscribe("acme", received.append, lambda: missed.append(True))
        with monkeypatch.context() as broken:
            broken.setattr(bus, "_notes", lambda message, sequence: 1 // 0)
            await publisher.publish([note(1)])
            await until(lambda: bool(missed))
        await followed(bus)
        await publisher.publish([note(2)])
        await until(lambda: bool(received))
    assert {each.sk for each in received} == {"2"}
    assert "the bus could not be followed" in caplog.text


async def test_a_replay_that_fails_leaves_nothing_on_the_connection(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    received, address = list[ChangeNote](), server.address()
    async with publishing(address) as publisher, following(address, received.append, ring=1) as bus:
        await publisher.publish([note(number) for number in range(1, 6)])
        await until(lambda: len(received) == 5)
        monkeypatch.setattr(jetstream_bus, "_MOST_REPLAYED", 1)
        client = bus._link._client
        assert client is not None
        before = len(client._subs)
        with pytest.raises(PositionExpired):
            await bus.replay("acme", {received[0].shard: received[0].sequence})
        assert len(client._subs) == before


async def test_a_task_that_loses_a_cancellation_is_ended_all_the_same() -> None:
    lost, begun = list[bool](), anyio.Event()

    async def follow() -> None:
        while True:
            try:
                begun.set()
                await anyio.sleep_forever()
            except asyncio.CancelledError:
                if lost:
                    raise
                lost.append(True)  # as nats-py does where its connection is closed

    task = asyncio.ensure_future(follow())
    await begun.wait()
    await cancel_and_wait(task)
    assert (lost, task.cancelled()) == ([True], True)


PERMISSIONS = """
authorization {
  users: [
    { user: reader, password: reader-password, permissions: {
        publish: ["changes.>", "$JS.API.STREAM.INFO.changes", "$JS.API.STREAM.CREATE.changes",
                  "$JS.API.STREAM.MSG.GET.changes"]
        subscribe: ["_INBOX.>"] } }
    { user: web, password: web-password, permissions: {
        publish: ["$JS.API.STREAM.INFO.changes", "$JS.API.CONSUMER.CREATE.changes.>", "$JS.API.CONSUMER.INFO.changes.>",
                  "$JS.API.CONSUMER.MSG.NEXT.changes.>"]
        subscribe: ["_INBOX.>"] } }
  ]
}
"""


async def test_the_user_of_a_web_process_publishes_nothing(tmp_path: Path) -> None:
    """The permissions that docs/streams.md names are enough for both, and keep web processes from sending notes."""
    received = list[ChangeNote]()
    with nats_server(tmp_path, PERMISSIONS) as server:
        web = server.address(user="web")
        async with publishing(server.address(user="reader")) as publisher, following(web, received.append, 1) as bus:
            await publisher.publish([note(1)])
            await until(lambda: len(received) == 1)
            position = bus.position()
            await publisher.publish([note(2), note(3)])
            await until(lambda: len(received) == 3)
            assert numbers(await bus.replay("acme", position)) == [2, 3]
            forger = JetStreamPublisher(web)
            with pytest.raises(Unavailable):
                await forger.publish([note(4)])
            await forger.close()
            await publisher.publish([note(5)])
            await until(lambda: len(received) == 4)
    assert numbers(received) == [1, 2, 3, 5]


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """A folder with `ca.pem`, and `server.pem` and `server.key` that it has signed for 127.0.0.1."""
    now = datetime.now(UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("ca", "server")]

    def signed(number: int, extension: x509.ExtensionType) -> bytes:
        made = x509.CertificateBuilder().subject_name(names[number]).issuer_name(names[0])
        made = made.public_key(keys[number].public_key()).serial_number(x509.random_serial_number())
        made = made.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(hours=1))
        whole = made.add_extension(extension, critical=number == 0).sign(keys[0], hashes.SHA256())
        return whole.public_bytes(serialization.Encoding.PEM)

    (tmp_path / "ca.pem").write_bytes(signed(0, x509.BasicConstraints(ca=True, path_length=None)))
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    (tmp_path / "server.pem").write_bytes(signed(1, address))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "server.key").write_bytes(keys[1].private_bytes(*plain))
    return tmp_path


async def test_over_tls_the_server_has_to_show_a_certificate_of_the_known_authority(certificates: Path) -> None:
    folder, received = certificates, list[ChangeNote]()
    more = f'tls {{ cert_file: "{folder / "server.pem"}", key_file: "{folder / "server.key"}" }}'
    with nats_server(folder, more, scheme="tls") as server:
        address = server.address(ca=folder / "ca.pem")
        async with publishing(address) as publisher, following(address, received.append):
            await publisher.publish([note(1)])
            await until(lambda: len(received) == 1)
        stranger = JetStreamPublisher(server.address())
        with pytest.raises(Unavailable, match="CERTIFICATE_VERIFY_FAILED"):
            await stranger.connect()
        await stranger.close()


async def _read(publisher: JetStreamPublisher, records: list[ChangeNote], random: Random, done: list[int]) -> None:
    """Reads on, and now and then begins again at the checkpoint, as after a crash; `done` holds the checkpoint."""
    at = 0
    while done[0] < len(records):
        if at >= len(records) or random.random() < 0.2:
            at = done[0]
        batch = records[at : at + random.randint(1, 9)]
        try:
            await publisher.publish(batch)
        except Unavailable:
            await asyncio.sleep(random.random() / 100)
            continue
        at += len(batch)
        if random.random() < 0.5:
            done[0] = max(done[0], at)


@pytest.mark.parametrize("seed", range(4))
async def test_readers_that_overlap_and_crash_lose_and_reorder_nothing(server: NatsServer, seed: int) -> None:
    """Two readers of one shard at the same time, each sure that it is alone."""
    tenants = ("acme", "globex", "initech")
    records = [note(number, Random(number).choice(tenants)) for number in range(1, 121)]
    received, done, address = list[ChangeNote](), [0], server.address()
    async with publishing(address) as one, publishing(address) as two, following(address, received.append):
        with anyio.fail_after(60):
            await asyncio.gather(*(_read(each, records, Random(f"{seed}{each}"), done) for each in (one, two)))
        await until(lambda: len({each.sk for each in received}) == len(records))
    for tenant in tenants:
        delivered = numbers([each for each in received if each.tenant == tenant])
        expected = [int(each.sk) for each in records if each.tenant == tenant]
        # what is sent twice is sent in the same order to the same end: the last of each is in order too
        assert list(dict.fromkeys(delivered)) == expected
        assert list(dict.fromkeys(reversed(delivered))) == expected[::-1]
