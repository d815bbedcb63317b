"""The shipped domains with a list that a local index answers: one that carries whole items, or one that does not."""

from dataclasses import replace

from gateway.demo import MODEL
from gateway.model.entity import OnIndex
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.table import Index

LOCAL = Index("LSI1", local=True)
SMALLER = Index("LSI1", projection="INCLUDE", attributes=("postId", "commentId", "userId", "createdAt"), local=True)
PLACE = OnIndex(index="LSI1", name="byReader", pk="POST#{postId}", sk="BY#{userId}#{createdAt}#{commentId}")
LISTING = Listing(
    name="commentsOfReader",
    entity="Comment",
    index="byReader",
    where=("userId",),
    between="createdAt",
    newest_first=True,
    consistent=True,
    description="Comments of one reader on a post, newest first.",
)


def with_local_index(
    model: Model = MODEL, place: OnIndex = PLACE, index: Index = LOCAL, listing: Listing = LISTING
) -> Model:
    [*others, publishing] = model.domains
    entities = tuple(
        replace(entity, indexes=(*entity.indexes, place)) if entity.name == "Comment" else entity
        for entity in publishing.entities
    )
    changed = replace(
        publishing, entities=entities, patterns=(*publishing.patterns, listing), indexes=(*publishing.indexes, index)
    )
    return replace(model, domains=(*others, changed))
