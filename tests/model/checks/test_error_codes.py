"""What is said about error codes that are declared wrongly."""

import pytest

from gateway.errors import ModelError
from gateway.model.error_code import ErrorCode
from tests.model.build import model, thing


def test_all_faults_of_error_codes_are_reported_at_once() -> None:
    codes = (
        ErrorCode("outOfStock", "nothing left"),
        ErrorCode("CONFLICT", "ours"),
        ErrorCode("FULL", "it is full"),
        ErrorCode("FULL", "it is very full"),
        ErrorCode("SILENT", ""),
        ErrorCode("CROWDED", "it is full"),
    )
    with pytest.raises(ModelError) as caught:
        model(thing(), error_codes=codes)
    assert caught.value.faults == (
        "error code outOfStock: a name has capital letters, digits and `_`, such as OUT_OF_STOCK",
        "error code CONFLICT: is one of the gateway's own; use UserErrorCode.CONFLICT",
        "error code FULL: is declared twice",
        "error code SILENT: has no description",
        "error code CROWDED: has the description of FULL",
    )
