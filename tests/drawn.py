"""How much is drawn at random: a sample in `make test`, all of it in `make test-random`, which CI runs."""

import os

FULL = os.environ.get("DRAWN") == "all"


def drawn(everything: int, sample: int) -> int:
    return everything if FULL else sample
