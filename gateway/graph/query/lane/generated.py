"""Python made at run time: short functions in plain source, compiled once and shown by tracebacks.

INVARIANT: nothing of a document is ever part of the source; response keys, attribute names and texts are values that
the source names `f0`, `a0` and so on.
"""

import itertools
import linecache
import weakref
from collections.abc import Callable, Mapping
from typing import Any

_numbers = itertools.count()
_kept: weakref.WeakValueDictionary[str, Callable[..., Any]] = weakref.WeakValueDictionary()


def function(name: str, lines: list[str], names: Mapping[str, Any]) -> Callable[..., Any]:
    """The function that these lines define, with `names` as its globals."""
    source = "\n".join(lines) + "\n"
    file = f"<lane {next(_numbers)} {name}>"
    # without a time of change, so that it is never looked for on a disk; it goes when the function does
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space: dict[str, Any] = dict(names)
    exec(compile(source, file, "exec"), space)  # noqa: S102  made of our own words only: see the invariant above
    made: Callable[..., Any] = space[name]
    weakref.finalize(made, linecache.cache.pop, file, None).atexit = False
    _kept[file] = made
    return made


def functions() -> list[Callable[..., Any]]:
    """Those that are in use, in the order in which they were made."""
    return list(_kept.values())


def source_of(made: Callable[..., Any]) -> str:
    """What `function` has compiled."""
    return "".join(linecache.getlines(made.__code__.co_filename))
