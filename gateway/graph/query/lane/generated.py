"""Compiles short functions at run time from plain source, which tracebacks can show.

INVARIANT: nothing from a document is ever part of the source; response keys, attribute names and texts are values,
which the source refers to as `f0`, `a0` and so on.
"""

import itertools
import linecache
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from gateway.graph.background import checkpoint

_numbers = itertools.count()
_kept: weakref.WeakValueDictionary[str, Callable[..., Any]] = weakref.WeakValueDictionary()


def function(name: str, lines: list[str], names: Mapping[str, Any]) -> Callable[..., Any]:
    """Compiles the function that these lines define, with `names` as its globals."""
    checkpoint()
    source = "\n".join(lines) + "\n"
    file = f"<lane {next(_numbers)} {name}>"
    # without a modification time, so that `linecache` never looks for a file; removed together with the function
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space: dict[str, Any] = dict(names)
    exec(compile(source, file, "exec"), space)  # noqa: S102  contains only our own source, see the invariant above
    compiled_function: Callable[..., Any] = space[name]
    weakref.finalize(compiled_function, linecache.cache.pop, file, None).atexit = False
    _kept[file] = compiled_function
    return compiled_function


def functions() -> list[Callable[..., Any]]:
    """Returns the functions in use, in the order of their creation."""
    return list(_kept.values())


def source_of(made: Callable[..., Any]) -> str:
    """Returns the source that `function` has compiled."""
    return "".join(linecache.getlines(made.__code__.co_filename))
