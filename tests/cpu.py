"""CPU by folder and by file of tests, children included: `pytest -p tests.cpu`. A busy machine adds up to a half."""

import os
from collections import Counter
from collections.abc import Generator

import pytest

SHOWN = 25
START = pytest.StashKey[float]()


def spent() -> float:
    """Seconds of this process and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[START] = spent()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Each phase with its share: a report's properties are what a worker of xdist hands back."""
    report = yield
    now = spent()
    report.user_properties = [("cpu", now - item.stash[START])]
    item.stash[START] = now
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    files: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            properties = dict(getattr(report, "user_properties", ()))
            files[getattr(report, "nodeid", "").partition("::")[0]] += properties.get("cpu", 0.0)
    folders: Counter[str] = Counter()
    for file, seconds in files.items():
        folders["/".join(file.split("/")[:-1][:2])] += seconds
    terminalreporter.section(f"CPU seconds by folder and file, {sum(files.values()):.0f} in all")
    for name, seconds in [*folders.most_common(), *files.most_common(SHOWN)]:
        terminalreporter.write_line(f"{seconds:8.1f}  {name}")
