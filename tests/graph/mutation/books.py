"""Books with everything that a write keeps right: a reference, a unique code, a copy and counters."""

from functools import cache
from typing import Any

from gateway.graph.mutation.bulk import bulk
from gateway.graph.mutation.crud import crud, new_id
from gateway.graph.schema.schema import build_schema
from gateway.iam.policies.policies import generated
from gateway.model.entity import Attribute, Copy, Entity, Key, Reference, whole_list
from gateway.model.model import Domain, Model
from gateway.model.patterns import Counter, Listing, Lookup
from gateway.model.role import STANDARD_ROLES, Role
from gateway.model.types import Id, Integer, KeyString, Text
from gateway.ops.policies.files import permissions_for
from tests.graph.fixtures import MemoryEndpoint, ServedModel

GENRE = Entity(
    name="Genre",
    description="A genre.",
    attributes=(Attribute("genreId", Id(), "The id."), Attribute("title", Text(50), "The title.")),
    key=Key(pk="GENRE#{genreId}", sk="META"),
)
BOOK = Entity(
    name="Book",
    description="A book.",
    attributes=(
        Attribute("bookId", Id(), "The id.", default=new_id),
        Attribute("genreId", Id(), "The genre."),
        Attribute("code", KeyString(), "The code.", required=False),
        Attribute("title", Text(300_000), "The title."),
        Attribute("pages", Integer(min=1), "How many pages.", required=False),
    ),
    key=Key(pk="BOOK#{bookId}", sk="META"),
    copies=(Copy(name="inGenre", pk="INGENRE#{genreId}", sk="BOOK#{bookId}"),),
    indexes=(whole_list("GSI1", "BOOKS", sort="{bookId}", by="bookId"),),
    relations=(
        Reference(name="genre", pattern="genre", description="The genre.", required=True, on_remove="restrict"),
    ),
    unique=("code",),
)
NOTE = Entity(
    name="Note",
    description="A reader's own note.",
    attributes=(
        Attribute("readerId", Id(), "The reader."),
        Attribute("noteId", Id(), "The id."),
        Attribute("onReader", Id(), "Whose note it is about.", required=False),
        Attribute("onNote", Id(), "The note that it is about.", required=False),
    ),
    key=Key(pk="READER#{readerId}", sk="NOTE#{noteId}"),
    owner="readerId",
    relations=(
        Reference(
            name="about",
            pattern="note",
            description="The note that it is about.",
            bind={"readerId": "onReader", "noteId": "onNote"},
            required=True,
        ),
    ),
)
PATTERNS = (
    Lookup(name="note", entity="Note", description="One note."),
    Lookup(name="genre", entity="Genre", description="One genre.", strong=True),
    Lookup(name="book", entity="Book", description="One book.", strong=True),
    Listing(name="allBooks", entity="Book", index="all", counter=Counter(shards=2), description="All books."),
    Listing(
        name="booksOfGenre", entity="Book", index="inGenre", counter=Counter(shards=1), description="Books of a genre."
    ),
)
CLERK = Role(name="clerk", description="writes genres only", writes=("Genre",))
READER = Role(name="reader", description="writes its own notes", reads=("Note",), writes=("Note",), own=True)


def books_model(*, atomic: bool = False, max_items: int = 60) -> Model:
    mutations = (
        *crud(GENRE),
        *crud(BOOK),
        *bulk(*crud(GENRE), *crud(NOTE), max_items=20),
        *bulk(*crud(BOOK), max_items=max_items, atomic=atomic),
    )
    domain = Domain(
        name="books",
        description="Books.",
        entities=(GENRE, BOOK, NOTE),
        patterns=PATTERNS,
        mutations=mutations,
        roles=(*STANDARD_ROLES, CLERK, READER),
    )
    return Model(domains=(domain,))


DOMAIN = books_model().domains[0]


@cache
def _served(*, atomic: bool) -> ServedModel:
    model = books_model(atomic=atomic, max_items=9 if atomic else 60)
    return ServedModel(model, build_schema(model), permissions_for(generated(model), model), [])


def books(*, atomic: bool = False, **limits: Any) -> MemoryEndpoint:
    return MemoryEndpoint(**limits, served=_served(atomic=atomic))


RESULT = "results { index written %s { %s } errors { code field message } } writtenCount errors { code field }"


async def send(
    api: MemoryEndpoint, name: str, items: list[dict[str, Any]], select: str = "bookId", **more: Any
) -> dict[str, Any]:
    title, key, token = name[0].upper() + name[1:], more.get("key"), more.get("token", "acme/admin")
    field = next(word for word in ("genre", "book", "note") if name.lower().endswith(word))
    query = f"""mutation ($items: [{title[4:]}Input!]!, $key: String) {{
      {name}(input: {{items: $items}}, idempotencyKey: $key) {{ {RESULT % (field, select)} }} }}"""
    payload: dict[str, Any] = (await api.ask(query, {"items": items, "key": key}, token=token))[name]
    return payload


async def stocked(api: MemoryEndpoint, books: int = 0) -> None:
    made = await send(api, "bulkCreateGenre", [{"genreId": name, "title": name} for name in "gh"], "title")
    assert made["writtenCount"] == 2
    if books:
        given = [{"bookId": f"b{n}", "genreId": "g", "title": "T", "code": f"c{n}"} for n in range(books)]
        assert (await send(api, "bulkCreateBook", given))["errors"] == []


def kept_right(api: MemoryEndpoint) -> int:
    """How many books there are, after the copies, codes and counters have been compared with them."""
    rows = api.memory.rows
    books = {row["bookId"]["S"]: row for (pk, _), row in rows.items() if "#BOOK#" in pk}
    copies = {sk: row for (pk, sk), row in rows.items() if "#INGENRE#" in pk and sk.startswith("BOOK#")}
    assert {sk.removeprefix("BOOK#") for sk in copies} == set(books)
    assert all(copy["title"] == books[sk.removeprefix("BOOK#")]["title"] for sk, copy in copies.items())
    codes = {pk.rsplit("#", 1)[-1] for pk, _ in rows if "#UNIQUE#" in pk}
    assert codes == {row["code"]["S"] for row in books.values() if "code" in row}
    assert _count(api, "ALL_BOOKS") == len(books)
    for genre in "gh":
        inside = sum(row["genreId"]["S"] == genre for row in books.values())
        assert _count(api, f"BOOKS_OF_GENRE#{genre}") == inside
    return len(books)


def _count(api: MemoryEndpoint, name: str) -> int:
    table = api.served.model.table
    return sum(int(row[table.counted]["N"]) for (pk, _), row in api.memory.rows.items() if f"#COUNT#{name}#" in pk)
