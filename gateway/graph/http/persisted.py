"""Documents that are asked for by name: trusted ones from a manifest, and those that callers left here (APQ)."""

import hashlib
from collections.abc import Mapping
from typing import Any

from cachetools import LRUCache

from gateway.errors import BadUserInput, UnknownDocument, UntrustedDocument
from gateway.graph.http.request import GraphQLRequest
from gateway.model.tenant import TenantId

# the words by which Apollo Client and urql know that they have to send the text
NOT_FOUND = "PersistedQueryNotFound"

SCHEME = "sha256:"  # some tools write it before an id, some do not

_KEPT_BYTES = 16_000_000
_EACH_BYTES = 300  # what an entry takes beside its text


class Persisted:
    """INVARIANT: what one tenant leaves here no other tenant can run or find, for a document may hold its literals."""

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
        """Of the documents' texts, whatever the manifest names them by."""
        return frozenset(map(_sha256, self.trusted_texts))

    def text(self, tenant: TenantId, asked: GraphQLRequest) -> str:
        """The text to run."""
        text = asked.query
        given = _hash(asked.extensions)
        name = (asked.document_id or given or "").removeprefix(SCHEME)
        known = self._trusted.get(name)
        if known is None and not self.trusted_documents_only:
            known = self._kept.get((tenant, name))
        if text is None:
            if known is None:
                raise UnknownDocument(NOT_FOUND)
            return known
        if self.trusted_documents_only and text not in self.trusted_texts:
            raise UntrustedDocument("only trusted documents are run here; ask for one by its id")
        if known is not None and known != text:
            raise BadUserInput("`query` is another document than the one that is named")
        # INVARIANT: a document is kept under the hash of its own text and under no other.
        if known is None and given is not None and given != _sha256(text):
            raise BadUserInput("`sha256Hash` is not the hash of `query`")
        return text

    def keep(self, tenant: TenantId, asked: GraphQLRequest) -> None:
        """Called for what `text` has let pass and what is valid, so that nothing else takes up room."""
        given, text = _hash(asked.extensions), asked.query
        if given is None or text is None or self.trusted_documents_only or given in self._trusted:
            return
        if self._kept.getsizeof(text) <= self._kept.maxsize // 100:
            self._kept[tenant, given] = text


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _hash(extensions: Mapping[str, Any]) -> str | None:
    """What Apollo's automatic persisted queries send."""
    match extensions.get("persistedQuery"):
        case None:
            return None
        case {"version": 1, "sha256Hash": str(given)} if given:
            return given
    raise BadUserInput('`persistedQuery` must be {"version": 1, "sha256Hash": "..."}')
