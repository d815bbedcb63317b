"""A domain with every kind of file: anybody's, a personal one, and one that has an owner."""

from gateway import (
    STANDARD_ROLES,
    Attribute,
    Domain,
    Entity,
    File,
    Id,
    Key,
    Lookup,
    Model,
    Role,
    Text,
    crud,
    file_mutations,
)

_PDF = File(max_bytes=1_000, content_types=("application/pdf", "text/plain"))
_PNG = File(max_bytes=500, content_types=("image/png",))

PAPER = Entity(
    name="Paper",
    description="A paper.",
    attributes=(
        Attribute("paperId", Id(), "Its id."),
        Attribute("title", Text(100), "Its title."),
        Attribute("scan", _PDF, "The paper.", required=False),
        Attribute("signature", _PNG, "Who signed it.", required=False, personal=True),
    ),
    key=Key(pk="PAPER#{paperId}", sk="META"),
)
AVATAR = Entity(
    name="Avatar",
    description="The picture of a member.",
    attributes=(
        Attribute("memberId", Id(), "Whose it is."),
        Attribute("title", Text(100), "Its title."),
        Attribute("picture", _PNG, "The picture.", required=False),
    ),
    key=Key(pk="MEMBER#{memberId}", sk="AVATAR"),
    owner="memberId",
)
MEMBER = Role(name="member", description="has its own avatar", reads=("Avatar",), writes=("Avatar",), own=True)
DOMAIN = Domain(
    name="vault",
    description="Files.",
    entities=(PAPER, AVATAR),
    patterns=(
        Lookup(name="paper", entity="Paper", description="A paper."),
        Lookup(name="avatar", entity="Avatar", description="An avatar."),
    ),
    mutations=(*crud(PAPER), *file_mutations(PAPER), *crud(AVATAR), *file_mutations(AVATAR)),
    roles=(*STANDARD_ROLES, MEMBER),
)
MODEL = Model(domains=(DOMAIN,))
