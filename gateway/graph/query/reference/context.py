"""What resolvers may use of a request: its reader, its writer and what its operation asks for."""

from dataclasses import dataclass
from typing import Any

from graphql import GraphQLResolveInfo

from gateway.graph.query.arguments import Variables
from gateway.graph.query.binder import Places
from gateway.graph.query.reference.reader import Reader
from gateway.store.write.writer import Writer


@dataclass(frozen=True, slots=True)
class Context:
    reader: Reader
    writer: Writer
    places: Places
    variables: Variables

    def field(self, info: GraphQLResolveInfo[Any]) -> Any:
        """The field of the operation's tree that is being resolved."""
        path = tuple(key for key in info.path.as_list() if isinstance(key, str))
        return self.places[info.parent_type.name, path]
