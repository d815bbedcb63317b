import pytest

from gateway.ops.capacity.around import Expense, expenses
from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.demand import Consumption, Demand
from gateway.ops.capacity.plan import plan
from gateway.ops.capacity.prices import read_prices
from gateway.ops.capacity.report import page
from tests.ops.capacity.shop import MODEL

PRICES = read_prices()


def spent(calls: float = 0, storage_gb: float = 0, **around: object) -> dict[str, Expense]:
    demand = Demand((Consumption("order", "table", "read", calls, 0.5),), ("table",))
    given = {"average_share": 0.5, "storage_gb": storage_gb, "around": around}
    return {each.name: each for each in expenses(demand, Assumptions.model_validate(given), PRICES)}


def test_two_half_tasks_cost_about_36_dollars() -> None:
    # 2 x (0.5 x 0.04048 + 1 x 0.004445) x 730
    assert spent()["Fargate"].month == pytest.approx(36.04, abs=0.005)
    assert spent(tasks=4, task_vcpu=2, task_gb=4)["Fargate"].month == pytest.approx(288.3208)


def test_ten_interface_endpoints_cost_73_dollars_and_a_nat_gateway_32_85() -> None:
    assert spent()["interface endpoints"].month == pytest.approx(73)
    assert "NAT" not in spent()
    # 0.045 x 730, and 100 GB at 0.045
    assert spent(nat_gateways=1, nat_gb=100)["NAT"].month == pytest.approx(32.85 + 4.5)


def test_a_load_balancer_takes_a_gb_an_hour_for_each_unit() -> None:
    assert spent()["load balancer"].month == pytest.approx(16.425)
    # 500 calls a second on average, 2,628,000 seconds, 4,000 bytes: 5,256 GB at 0.008
    assert spent(calls=1_000)["load balancer"].month == pytest.approx(16.425 + 42.048)


def test_the_log_costs_its_lines() -> None:
    # 500 x 2,628,000 x 700 bytes are 919.8 GB at 0.50
    assert spent(calls=1_000)["log"].month == pytest.approx(459.9)
    assert "log" not in spent()


def test_recovery_and_backups_cost_the_size_of_the_table() -> None:
    kept = spent(storage_gb=100, backup_copies=3)
    assert kept["point-in-time recovery"].month == pytest.approx(20)
    assert kept["backups"].month == pytest.approx(30)
    assert "point-in-time recovery" not in spent(storage_gb=100, recovery=False)


def test_each_session_uses_the_key_twelve_times_an_hour() -> None:
    # 1,000 x 12 x 730 are 8.76 million at 3, and the key itself
    assert spent(sessions=1_000)["KMS"].month == pytest.approx(26.28 + 1)


def test_stream_reads_are_billed_all_day() -> None:
    # 4 x 2,628,000 are 10.512 million at 0.2
    assert spent(stream_reads=4)["stream reads"].month == pytest.approx(2.1024)


def test_files_cost_their_size_their_requests_and_what_leaves_for_the_internet() -> None:
    found = spent(files_gb=500, file_uploads=2, file_downloads=10, file_bytes=100_000)
    assert found["files, kept"].month == pytest.approx(11.5)
    # 1 a second on average: 2.628 million writes at 5, and as many checks at 0.4
    assert found["files, uploads"].month == pytest.approx(2.628 * 5.4)
    # 5 a second: 13.14 million at 0.4, and 1,314 GB, of which 100 are free, at 0.09
    assert found["files, downloads"].month == pytest.approx(13.14 * 0.4 + 1_214 * 0.09)
    assert not {name for name in spent() if name.startswith("files")}


def test_a_pattern_that_reads_in_two_places_is_one_call() -> None:
    rows = (
        Consumption("orders", "GSI1", "read", 10, 1),
        Consumption("orders", "table", "read", 2, 1, "`totalCount`"),
        Consumption("write Order", "table", "write", 3, 1),
        Consumption("write Order", "GSI1", "write", 3, 1),
    )
    assert Demand(rows, ("table", "GSI1")).calls == 13


def test_the_report_adds_it_to_the_table() -> None:
    made = plan(MODEL, Assumptions(), PRICES)
    around = sum(each.month for each in made.around)
    assert f"Together {around:,.2f}; with the table on demand" in page(made)
    assert f"{around + made.expected.month.on_demand:,.2f}" in page(made)
