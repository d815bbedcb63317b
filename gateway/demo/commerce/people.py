"""Mutations of users and their contacts; e-mail addresses and phone numbers are unique in the tenant."""

from dataclasses import replace
from typing import Any

from gateway import (
    VERSION,
    Change,
    Entity,
    Fault,
    Field,
    Item,
    Mutation,
    MutationResult,
    UserErrorCode,
    Writer,
    invalid,
    now,
    remove,
)
from gateway.demo.commerce.user import EMAIL, PHONE, USER

# the main address on the user, and the entity that holds all of them
_CONTACTS = {"email": EMAIL, "phone": PHONE}


def _contact(change: Change, user_id: str, attribute: str, value: str) -> Item:
    values = {"userId": user_id, attribute: value, "verified": False, "addedAt": now()}
    return change.create(_CONTACTS[attribute].name, values)


async def create_user(writer: Writer, values: dict[str, Any]) -> MutationResult:
    attributes = {name: value for name, value in values.items() if value is not None}
    change = writer.change()
    item = change.create("User", {**attributes, "createdAt": now()})
    for attribute in _CONTACTS:
        if attribute in attributes:
            _contact(change, attributes["userId"], attribute, attributes[attribute])
    return await writer.commit(change, MutationResult(item))


async def update_user(writer: Writer, values: dict[str, Any]) -> MutationResult:
    """A new main address replaces the old one, which others may then use."""
    user_id = values.pop("userId")
    user = await writer.stored("User", {"userId": user_id}, values.pop("version", None))
    if values.get("email", "") is None or values.get("name", "") is None:
        raise invalid("`name` and `email` cannot be removed", "email" if values.get("email", "") is None else "name")
    change = writer.change()
    for attribute in _CONTACTS:
        if attribute in values and values[attribute] != user.values.get(attribute):
            await _replace_contact(writer, change, user, attribute, values[attribute])
    return await writer.commit(change, MutationResult(change.update(user, values)))


async def _replace_contact(writer: Writer, change: Change, user: Item, attribute: str, value: str | None) -> None:
    user_id, entity = user.values["userId"], _CONTACTS[attribute].name
    old = user.values.get(attribute)
    stored = await writer.find(entity, {"userId": user_id, attribute: old}) if old is not None else None
    if stored is not None:
        change.remove(stored)
    contact = await writer.find(entity, {"userId": user_id, attribute: value}) if value is not None else None
    if contact is not None:
        # one of the user's own addresses becomes the main one: it must not be removed at the same time
        change.unchanged(contact)
    elif value is not None:
        _contact(change, user_id, attribute, value)


async def remove_user(writer: Writer, values: dict[str, Any]) -> MutationResult:
    """Removes the user with every address; the orders stay, because they are the tenant's records."""
    user = await writer.stored("User", {"userId": values["userId"]}, values.get("version"))
    change = writer.change()
    change.remove(user)
    for name in ("emailsOfUser", "phonesOfUser", "notificationsOfUser", "subscriptionsOfUser", "sessionsOfUser"):
        for item in await writer.listed(name, {"userId": values["userId"]}):
            change.remove(item)
    return await writer.commit(change, MutationResult(user))


def _add(attribute: str, entity: Entity) -> Mutation:
    async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
        change = writer.change()
        there = Fault(UserErrorCode.NOT_FOUND, f"there is no user `{values['userId']}`", "userId")
        # this writes a new version of the user, so that removing the user at the same time cannot miss the address
        change.add("User", {"userId": values["userId"]}, {}, there, never_below_zero=False)
        item = _contact(change, values["userId"], attribute, values[attribute])
        return await writer.commit(change, MutationResult(item))

    name, words = f"add{entity.name}", f"Give a user another {entity.name.lower()}; it must be unique in the tenant."
    return Mutation(name=name, description=words, returns=entity.name, input=_key(entity), run=run)


def _remove(attribute: str, entity: Entity) -> Mutation:
    async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
        user = await writer.find("User", {"userId": values["userId"]})
        if user is not None and user.values.get(attribute) == values[attribute]:
            raise invalid(f"`{attribute}` is the user's main address or number; change the user first", attribute)
        key = {"userId": values["userId"], attribute: values[attribute]}
        item = await writer.stored(entity.name, key, values.get("version"))
        change = writer.change()
        if user is not None:
            # or it might become the main one at the same time
            change.unchanged(user)
        return await writer.commit(change, MutationResult(change.remove(item)))

    return replace(remove(entity), run=run)


def _verify(entity: Entity) -> Mutation:
    async def run(writer: Writer, values: dict[str, Any]) -> MutationResult:
        key = {name: values[name] for name in entity.key_names}
        item = await writer.stored(entity.name, key, values.get("version"))
        change = writer.change()
        return await writer.commit(change, MutationResult(change.update(item, {"verified": True})))

    name, words = f"verify{entity.name}", f"Record that the user has confirmed this {entity.name.lower()}."
    return Mutation(name=name, description=words, returns=entity.name, input=(*_key(entity), VERSION), run=run)


def _key(entity: Entity) -> tuple[Field, ...]:
    return tuple(
        Field(name, entity.attribute[name].type, entity.attribute[name].description) for name in entity.key_names
    )


def _fields(*, optional: bool) -> tuple[Field, ...]:
    open_names = [name for name in USER.attribute if name != "createdAt"]
    return tuple(
        Field(
            name,
            USER.attribute[name].type,
            USER.attribute[name].description,
            required=USER.attribute[name].required and not (optional and name != "userId"),
        )
        for name in open_names
    )


PEOPLE: tuple[Mutation, ...] = (
    Mutation(
        name="createUser",
        description="Create a user with a main e-mail address and phone number.",
        returns="User",
        input=_fields(optional=False),
        run=create_user,
    ),
    Mutation(
        name="updateUser",
        description="Change a user; a new main address replaces the old one.",
        returns="User",
        input=(*_fields(optional=True), VERSION),
        run=update_user,
    ),
    Mutation(
        name="removeUser",
        description="Remove a user with every address; the orders stay.",
        returns="User",
        input=(_fields(optional=False)[0], VERSION),
        run=remove_user,
        removes=True,
    ),
    *(_add(attribute, entity) for attribute, entity in _CONTACTS.items()),
    *map(_verify, _CONTACTS.values()),
    *(_remove(attribute, entity) for attribute, entity in _CONTACTS.items()),
)
