"""Functions that are made at run time: they run, a traceback shows their source, and they go when nobody uses them."""

import gc
import traceback

import pytest

from gateway.graph.query.lane.generated import function, functions, source_of


def test_a_function_runs_with_its_names_and_shows_its_source() -> None:
    lines = ["def doubled(value):", "    return value * f0"]
    doubled = function("doubled", lines, {"f0": 2})
    assert doubled(21) == 42
    assert source_of(doubled) == "def doubled(value):\n    return value * f0\n"
    assert doubled in functions()


def test_a_traceback_shows_the_line_that_failed() -> None:
    broken = function("broken", ["def broken():", "    return f0 / 0"], {"f0": 1})
    try:
        broken()
    except ZeroDivisionError as error:
        shown = "".join(traceback.format_exception(error))
    assert "return f0 / 0" in shown


@pytest.mark.usefixtures("frozen_heap")
def test_a_function_that_nobody_uses_is_forgotten() -> None:
    short = function("short", ["def short():", "    return 1"], {})
    file = short.__code__.co_filename
    del short
    gc.collect()
    assert all(kept.__code__.co_filename != file for kept in functions())
