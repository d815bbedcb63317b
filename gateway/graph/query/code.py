"""Runs a domain's own code and checks its arguments and results against their declared types."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import monotonic
from typing import Any, TypeVar

from gateway.errors import BadUserInput, DeadlineExceeded, Internal
from gateway.graph.query.arguments import model_values
from gateway.graph.query.caller_reader import CallerReader
from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.types import AttributeType, Field
from gateway.store.access import Access

T = TypeVar("T")
Values = Mapping[str, Any]
Check = Callable[[Any], Any]
_WRONG = (BadUserInput, LookupError, TypeError, ValueError, ArithmeticError, AttributeError)


def code_arguments(fields: tuple[Field, ...], given: Values) -> dict[str, Any]:
    """Converts the arguments to the model's values; raises `BadUserInput` if one has the wrong type."""
    values = {name: value for name, value in model_values(fields, given).items() if value is not None}
    for field in fields:
        if field.name in values:
            field.type.encode(field.name, values[field.name])
    return values


def result_check(owner: str, name: str, kind: AttributeType) -> Check:
    """Turns a result into a value of the type, as if it had been stored and read again."""
    decode = kind.decoder()

    def check(value: Any) -> Any:
        if value is None:
            return None
        try:
            return decode(kind.encode(name, value))
        except _WRONG as error:
            raise Internal(f"`{name}` of {owner} returned a value that is not of its type: {error}") from error

    return check


async def _in_time(name: str, deadline: float | None, work: Awaitable[T]) -> T:
    timeout = asyncio.timeout_at(deadline)
    try:
        async with timeout:
            return await work
    except TimeoutError as error:
        if timeout.expired():
            raise DeadlineExceeded(f"the request timed out while `{name}` ran") from error
        raise


class ComputedCode:
    """The code of a computed field."""

    def __init__(self, owner: str, declared: Computed) -> None:
        self.declared = declared
        self._check = result_check(owner, declared.name, declared.type)

    def value(self, values: Values, arguments: Values) -> Any:
        """Raises whatever the code raises."""
        run = self.declared.run
        return self._check(run(values, arguments) if self.declared.arguments else run(values))


class LoadedCode:
    """The code of a loaded field."""

    def __init__(self, owner: str, declared: Loaded) -> None:
        self.declared = declared
        self.owner = owner
        self._check = result_check(owner, declared.name, declared.type)

    async def values(
        self, reader: CallerReader, access: Access, rows: Sequence[Values], arguments: Values
    ) -> list[Any]:
        """Returns a value or an exception for each row; rows not loaded yet in this request are loaded in one call."""
        loaded = access.loaded = access.loaded if access.loaded is not None else {}
        argument_text = repr(sorted(arguments.items()))
        # values of a type have a complete `repr`
        keys = [(self.owner, self.declared.name, argument_text, repr(row)) for row in rows]
        missing = {key: row for key, row in zip(keys, rows, strict=True) if key not in loaded}
        if missing:
            started = monotonic()
            results = await self._loaded(reader, [dict(row) for row in missing.values()], arguments)
            access.ran_code(f"{self.owner}.{self.declared.name}", len(missing), started)
            loaded.update(zip(missing, results, strict=True))
        return [loaded[key] for key in keys]

    async def _loaded(self, reader: CallerReader, rows: list[dict[str, Any]], arguments: Values) -> list[Any]:
        name, load, count = self.declared.name, self.declared.load, len(rows)
        try:
            work = load(reader, rows, dict(arguments)) if self.declared.arguments else load(reader, rows)
            values = await _in_time(name, reader.deadline, work)
            if not isinstance(values, list | tuple) or len(values) != count:
                raise Internal(f"`{name}` of {self.owner} did not return a list of {count} values, one for each row")
        except Exception as error:
            return [error] * count
        return [self._settled(value) for value in values]

    def _settled(self, value: Any) -> Any:
        try:
            return value if isinstance(value, Exception) else self._check(value)
        except Internal as error:
            return error


class QueryCode:
    """The code of a custom query."""

    def __init__(self, query: CustomQuery) -> None:
        self.query = query
        self._check: Check | None = None
        if not isinstance(query.returns, str):
            self._check = result_check("Query", query.name, query.returns)

    async def result(self, reader: CallerReader, given: Values) -> Any:
        query = self.query
        arguments = code_arguments(query.arguments, given)
        started = monotonic()
        answer = await _in_time(query.name, reader.deadline, query.run(reader, arguments))
        reader.ran_code(f"Query.{query.name}", 1, started)
        if answer is None:
            return None
        if not query.many:
            return self._member(reader, answer)
        if not isinstance(answer, list | tuple):
            raise Internal(f"`{query.name}` did not return a list")
        if len(answer) > query.max_items:
            raise Internal(f"`{query.name}` returned {len(answer)} members, but declares at most {query.max_items}")
        return [self._member(reader, member) for member in answer]

    def _member(self, reader: CallerReader, value: Any) -> Any:
        if self._check is not None:
            return self._check(value)
        # INVARIANT: an item is returned only if this request has read it with the session of its caller.
        if not reader.has_found(value) or value.entity != self.query.returns:
            raise Internal(
                f"`{self.query.name}` returned a value that is not an item of {self.query.returns} from its reader"
            )
        return value
