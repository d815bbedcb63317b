"""A typed view of an item: one class for each entity, as `gateway records` writes them."""

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from gateway.store.rows import Item


class Record:
    """An item whose attributes a type checker knows; one that is absent is None, one that is not declared an error.

    A class is named like its entity and annotates its attributes.
    """

    __slots__ = ("as_item",)
    declared: ClassVar[frozenset[str]] = frozenset({"version"})

    version: int

    def __init_subclass__(cls) -> None:
        cls.declared = cls.declared | cls.__annotations__.keys()

    def __init__(self, item: Item) -> None:
        self.as_item = item

    # type checkers must not see it: they would accept any name
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in self.declared:
                raise AttributeError(f"{type(self).__name__} has no attribute `{name}`")
            return self.as_item.values.get(name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"


R = TypeVar("R", bound=Record)
