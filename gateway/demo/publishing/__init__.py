"""Publishing: posts, their authors, comments, likes and the leaderboard."""

from gateway import Demo, Domain, crud
from gateway.demo.examples import read_examples
from gateway.demo.publishing import author, comment, draft, like, post, reader, score
from gateway.demo.publishing.liking import LIKING
from gateway.demo.publishing.seeds import rows
from gateway.demo.publishing.writing import WRITING
from gateway.demo.shops import TENANTS

_FILES = (author, reader, draft, post, comment, like, score)

DOMAIN = Domain(
    name="publishing",
    description="Posts with their authors and comments, likes, and a leaderboard of the most liked posts.",
    entities=tuple(entity for file in _FILES for entity in file.ENTITIES),
    patterns=tuple(pattern for file in _FILES for pattern in file.PATTERNS),
    mutations=(*crud(author.AUTHOR), *reader.READING, *WRITING, *LIKING),
    indexes=post.INDEXES,
    demo=Demo(tenants=TENANTS, rows=rows, examples=read_examples("publishing")),
)
