"""Publishing: posts, their authors, comments, likes and the leaderboard."""

from gateway.demo.publishing import author, comment, like, post, score
from gateway.demo.publishing.liking import LIKING
from gateway.demo.publishing.writing import WRITING
from gateway.graph.mutation.crud import crud
from gateway.graph.mutation.mutation import Mutation
from gateway.model.model import Domain

_FILES = (author, post, comment, like, score)

DOMAIN = Domain(
    name="publishing",
    description="Posts with their authors and comments, likes, and a leaderboard of the most liked posts.",
    entities=tuple(entity for file in _FILES for entity in file.ENTITIES),
    patterns=tuple(pattern for file in _FILES for pattern in file.PATTERNS),
)
MUTATIONS: tuple[Mutation, ...] = (*crud(author.AUTHOR), *WRITING, *LIKING)
