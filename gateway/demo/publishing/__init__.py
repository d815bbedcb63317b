"""Publishing: posts, their authors, comments, likes and the leaderboard."""

from gateway import Demo, Domain, crud
from gateway.demo.examples import read_examples
from gateway.demo.publishing import like, post
from gateway.demo.publishing.liking import LIKING
from gateway.demo.publishing.seeds import rows
from gateway.demo.publishing.writing import WRITING
from gateway.demo.shops import TENANTS

DOMAIN = Domain(
    name="publishing",
    description="Posts with their authors and comments, likes, and a leaderboard of the most liked posts.",
    entities=(*post.ENTITIES, *like.ENTITIES),
    patterns=(*post.PATTERNS, *like.PATTERNS),
    mutations=(*crud(post.AUTHOR), *post.READING, *WRITING, *LIKING),
    indexes=post.INDEXES,
    demo=Demo(tenants=TENANTS, rows=rows, examples=read_examples("publishing")),
)
