from datetime import UTC, datetime

import pytest

from gateway.demo import MODEL
from gateway.errors import ConfigurationError
from gateway.ops.audit.gather.everything import Places, gather
from tests.ops.audit.fixtures import SUBJECT
from tests.ops.audit.scripted import Scripted, refused


def test_an_audit_cannot_run_without_its_table(places: Places) -> None:
    live = Scripted({"describe_table": refused("ResourceNotFoundException")})
    with pytest.raises(ConfigurationError, match="the table `shop-prod` cannot be described: there is no such table"):
        gather(live, SUBJECT, MODEL, places, datetime.now(UTC))
