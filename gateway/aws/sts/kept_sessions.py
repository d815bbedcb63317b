"""The cached sessions of a process: those in use as objects, all others packed into a few hundred bytes each.

With a session per subject, most sessions wait for the next request of a user who is reading a page. Most of a packed
session is AWS's token; everything else (objects, permissions, derived signing keys) is rebuilt from its key on use.
"""

import binascii
from base64 import b64decode, b64encode
from collections import OrderedDict
from struct import Struct
from typing import Final

from gateway.aws.sts.session import PermissionsFor, Session, SessionKey
from gateway.aws.wire.credentials import Credentials
from gateway.model.tenant import TenantId

_IN_USE: Final = 1_000
# opened at, refresh at, expires at, the lengths of access key and secret key, and whether the token is decoded
_HEAD: Final = Struct("<dddHH?")
_ParkedKey = tuple[SessionKey, str | None]
"""A key without its subject, and the subject."""


class KeptSessions:
    """Keeps at most `most` sessions; evicts the least recently used."""

    def __init__(self, most: int, permissions_for: PermissionsFor, in_use: int = _IN_USE) -> None:
        self._most = most
        self._in_use = in_use
        self._permissions_for = permissions_for
        # both least recently used first; every parked session was used before every live one
        self._parked: OrderedDict[_ParkedKey, bytes] = OrderedDict()
        # the subjects of a tenant share the common part of their keys
        self._places: dict[SessionKey, SessionKey] = {}
        self.live: OrderedDict[SessionKey, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._parked) + len(self.live)

    def __contains__(self, key: SessionKey) -> bool:
        return key in self.live or _parked_key(key) in self._parked

    def use(self, key: SessionKey) -> Session | None:
        """Returns the session and marks it as the most recently used."""
        session = self.live.get(key)
        if session is not None:
            self.live.move_to_end(key)
            return session
        parked = self._parked.get(_parked_key(key))
        if parked is None:
            return None
        session = _unpacked(key, parked, self._permissions_for)
        self.put(key, session)
        return session

    def put(self, key: SessionKey, session: Session) -> None:
        self._parked.pop(_parked_key(key), None)
        self.live[key] = session
        self.live.move_to_end(key)
        if len(self.live) > self._in_use:
            self._park(*self.live.popitem(last=False))
        if len(self) > self._most:
            self._pop_first()

    def remove(self, key: SessionKey) -> None:
        self.live.pop(key, None)
        self._parked.pop(_parked_key(key), None)

    def forget(self, tenant: TenantId) -> None:
        for key in [key for key in self.live if key.tenant == tenant]:
            del self.live[key]
        for parked in [parked for parked in self._parked if parked[0].tenant == tenant]:
            del self._parked[parked]
        self._places = {place: place for place in self._places if place.tenant != tenant}

    def drop_ended(self, now: float, margin: float) -> None:
        """Drops expired sessions; they are the least recently used, because use refreshes a session."""
        while len(self) and not self._first_serves(now, margin):
            self._pop_first()

    def _park(self, key: SessionKey, session: Session) -> None:
        place, subject = _parked_key(key)
        # a key with its own identity is not shared
        if key.identity is None:
            place = self._places.setdefault(place, place)
        self._parked[place, subject] = _packed(session)
        if len(self._places) > 2 * len(self._parked):
            self._places = {place: place for place, _ in self._parked if place.identity is None}

    def _first_serves(self, now: float, margin: float) -> bool:
        if not self._parked:
            return next(iter(self.live.values())).serves(now, margin)
        opened_at, _, expires_at, *_ = _HEAD.unpack_from(next(iter(self._parked.values())))
        return bool(opened_at - margin <= now < expires_at - margin)

    def _pop_first(self) -> None:
        if self._parked:
            self._parked.popitem(last=False)
        else:
            self.live.popitem(last=False)


def _parked_key(key: SessionKey) -> _ParkedKey:
    return key._replace(subject=None), key.subject


def _packed(session: Session) -> bytes:
    keys = session.credentials
    access, secret, token = keys.access_key.encode(), keys.secret_key.encode(), keys.session_token or ""
    raw = _decoded(token)
    times = session.opened_at, session.refresh_at, keys.expires_at
    head = _HEAD.pack(*times, len(access), len(secret), raw is not None)
    return head + access + secret + (token.encode() if raw is None else raw)


def _unpacked(key: SessionKey, parked: bytes, permissions_for: PermissionsFor) -> Session:
    opened_at, refresh_at, expires_at, access, secret, decoded = _HEAD.unpack_from(parked)
    texts = parked[_HEAD.size :]
    token = texts[access + secret :]
    credentials = Credentials(
        texts[:access].decode(),
        texts[access : access + secret].decode(),
        (b64encode(token) if decoded else token).decode() or None,
        expires_at,
        key.tenant,
    )
    return Session(
        tenant=key.tenant,
        role=key.role,
        credentials=credentials,
        tenancy=key.tenancy,
        permissions=permissions_for(key.tenancy, key.tenant, key.role, key.subject),
        source_identity=key.source_identity,
        identity=key.identity,
        opened_at=opened_at,
        refresh_at=refresh_at,
    )


def _decoded(token: str) -> bytes | None:
    """Returns the bytes of a base64 token, a quarter shorter; None if encoding them would not give the same text."""
    try:
        raw = b64decode(token, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if b64encode(raw).decode() == token else None
