"""Work whose lines nobody counts: measuring coverage makes Python two or three times slower, also in libraries."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unmeasured() -> Iterator[None]:
    measuring = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(measuring)
