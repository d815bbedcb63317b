"""A domain's own error codes stand beside the gateway's."""

from gateway.model.error_code import ErrorCode, UserErrorCode
from tests.model.build import model, thing


def test_the_model_has_the_codes_of_its_domains() -> None:
    full = ErrorCode("FULL", "the course is full")
    assert model(thing(), error_codes=(full,)).error_codes == (full,)


def test_the_gateway_itself_knows_no_code_of_a_trade() -> None:
    own = ["CONFLICT", "ALREADY_EXISTS", "NOT_FOUND", "INVALID", "OUT_OF_RANGE", "IN_USE"]
    of_bulks = ["FORBIDDEN", "UNFINISHED"]
    assert [code.name for code in UserErrorCode] == own + of_bulks
