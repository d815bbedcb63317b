"""Persisted documents: trusted ones from a manifest, and those that callers have stored by hash (APQ)."""

import hashlib
from collections.abc import Mapping
from typing import Any

from cachetools import LRUCache

from gateway.errors import BadUserInput, UnknownDocument, UntrustedDocument
from gateway.graph.http.request import GraphQLRequest
from gateway.model.tenant import TenantId

# the message that tells Apollo Client and urql to send the text
NOT_FOUND = "PersistedQueryNotFound"

SCHEME = "sha256:"  # some tools prefix ids with it, some do not

_KEPT_BYTES = 16_000_000
_EACH_BYTES = 300  # memory that an entry takes besides its text


class Persisted:
    """Resolves the id or hash in a request to the text of a document.

    INVARIANT: a document that one tenant has stored cannot be run or found by another tenant, because it may contain
    the first tenant's literals.
    """

    def __init__(
        self,
        trusted: Mapping[str, str] | None = None,
        *,
        trusted_documents_only: bool = False,
        kept_bytes: int = _KEPT_BYTES,
    ) -> None:
        self._trusted = dict(trusted or {})
        self.trusted_texts = frozenset(self._trusted.values())
        self.trusted_documents_only = trusted_documents_only
        self._kept: LRUCache[tuple[TenantId, str], str] = LRUCache(
            kept_bytes, getsizeof=lambda text: _EACH_BYTES + 2 * len(text)
        )

    @property
    def trusted_hashes(self) -> frozenset[str]:
        """The hashes of the texts, whatever ids the manifest uses."""
        return frozenset(map(_sha256, self.trusted_texts))

    def text(self, tenant: TenantId, request: GraphQLRequest) -> str:
        """Returns the text to run."""
        text = request.query
        digest = _hash(request.extensions)
        name = (request.document_id or digest or "").removeprefix(SCHEME)
        stored_text = self._trusted.get(name)
        if stored_text is None and not self.trusted_documents_only:
            stored_text = self._kept.get((tenant, name))
        if text is None:
            if stored_text is None:
                raise UnknownDocument(NOT_FOUND)
            return stored_text
        if self.trusted_documents_only and text not in self.trusted_texts:
            raise UntrustedDocument("only trusted documents are run here; ask for one by its id")
        if stored_text is not None and stored_text != text:
            raise BadUserInput("`query` is another document than the one that is named")
        if digest is not None and digest != _sha256(text) and self._trusted.get(digest.removeprefix(SCHEME)) != text:
            raise BadUserInput("`sha256Hash` is not the hash of `query`")
        return text

    def keep(self, tenant: TenantId, request: GraphQLRequest) -> None:
        """Stores a document; call it only for valid requests that `text` has accepted, to save space."""
        digest, text = _hash(request.extensions), request.query
        if digest is None or text is None or self.trusted_documents_only or digest in self._trusted:
            return
        if self._kept.getsizeof(text) <= self._kept.maxsize // 100:
            # INVARIANT: a document is stored only under the hash of its own text, not under a hash that a caller sent.
            self._kept[tenant, _sha256(text)] = text


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _hash(extensions: Mapping[str, Any]) -> str | None:
    """Returns the hash that Apollo's automatic persisted queries send."""
    match extensions.get("persistedQuery"):
        case None:
            return None
        case {"version": 1, "sha256Hash": str(given)} if given:
            return given
    raise BadUserInput('`persistedQuery` must be {"version": 1, "sha256Hash": "..."}')
