"""A pytest plugin: the fixture `iam_sandbox` is an AWS account with IAM enforced, empty at the start of each test.

Put `pytest_plugins = ["gateway.sandbox.pytest_plugin"]` into the top `conftest.py`; see docs/testing-policies.md.
"""

from collections.abc import Iterator

import pytest

from gateway.sandbox.iam_sandbox import IamSandbox


@pytest.fixture
def iam_sandbox() -> Iterator[IamSandbox]:
    with IamSandbox() as sandbox:
        yield sandbox
