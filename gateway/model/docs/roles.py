"""The matrix of a model's roles, as Markdown: what each may do with each entity."""

from typing import Final

from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.role import Role, named
from gateway.model.role_reach import hidden_attributes, read_places, visible_patterns

BEGIN: Final = "<!-- made by `gateway docs`: roles -->"
END: Final = "<!-- end -->"


def role_matrix(model: Model) -> str:
    """One row for each entity, one column for each role; `beside` is not shown."""
    roles = list(model.all_roles.values())
    head = [f"| entity | {' | '.join(f'`{role.name}`' for role in roles)} |", f"|---|{'---|' * len(roles)}"]
    rows = [
        f"| {entity.name} | {' | '.join(_cell(model, entity, role) for role in roles)} |"
        for entity in model.entities.values()
    ]
    return "\n".join([*head, *rows, "", *_calls(model), *_unreached(model)])


def with_matrix(text: str, model: Model) -> str:
    """The page with the matrix between its two marks; a page without marks stays unchanged."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{role_matrix(model)}\n\n{end}{after}" if begin and end else text


def _cell(model: Model, entity: Entity, role: Role) -> str:
    places = [place for place in read_places(model, role) if place.entity.name == entity.name]
    whose = " own" if places and all(place.owned for place in places) else ""
    words = [f"read{whose}"] if places else []
    words += ["write"] if role.writes_entity(entity.name) else []
    words += ["remove"] if named(role.removable, entity.name) else []
    hidden = sorted({*hidden_attributes(model, role)} & {*entity.attribute}) if places else []
    unseen = f"; not {', '.join(f'`{name}`' for name in hidden)}" if hidden else ""
    return f"{', '.join(words)}{unseen}" if words else "-"


def _unreached(model: Model) -> list[str]:
    """The relations of own rows that their owner cannot follow, and the place that would allow each."""
    lines = []
    for role in (role for role in model.roles.values() if role.own):
        visible = set(visible_patterns(model, role))
        owned = {place.entity.name: place for place in read_places(model, role) if place.owned}
        for place in owned.values():
            for relation in (candidate for candidate in place.entity.relations if candidate.pattern not in visible):
                target = model.entities[model.patterns[relation.pattern].entity]
                fix = (
                    f"a copy or an index of {target.name}"
                    if target.owner
                    else f"an `owner` of {target.name}, and a copy or an index of it"
                )
                lines.append(
                    f"- `{role.name}` has no access to `{place.entity.name}.{relation.name}`: the partitions of "
                    f"`{relation.pattern}` do not hold the subject. It would take {fix} in `{place.place.pk.text}`."
                )
    return lines


def _calls(model: Model) -> list[str]:
    """The mutations that roles list by name, and those that act in another role."""
    lines = [
        f"- `{role.name}` may call {', '.join(f'`{name}`' for name in role.mutations)}."
        for role in model.roles.values()
        if isinstance(role.mutations, tuple)
    ]
    acting = (role.name for role in model.all_roles.values() if role.acting)
    used = {role: [mutation.name for mutation in model.mutations if mutation.acts_as == role] for role in acting}
    return [
        *lines,
        *(
            f"- No token carries `{role}`: {', '.join(f'`{name}`' for name in names)} act in it."
            for role, names in used.items()
        ),
    ]
