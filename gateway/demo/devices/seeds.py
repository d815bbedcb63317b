"""Demo rows of devices: three for each tenant, with a day of readings."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from gateway import SeedRow
from gateway.demo.shops import BY_TENANT

_DEVICES = (("Cold room", "°C", 4), ("Shop floor", "°C", 21), ("Front door", "visitors", 30))
_READINGS = 12
_RETENTION = (30, 30, 90)


def rows(tenant: str, now: datetime) -> Iterator[SeedRow]:
    shop, now = BY_TENANT[tenant], now.replace(microsecond=0)
    random = Random(f"{shop.tenant} devices")  # noqa: S311  every start must produce the same rows
    for number, (title, unit, usual) in enumerate(_DEVICES):
        device_id, days = f"d-{shop.first + number}", _RETENTION[number]
        registered = now - timedelta(days=100 + number)
        device = {"deviceId": device_id, "title": f"{title} of {shop.title}", "location": shop.cities[number]}
        yield "Device", {**device, "retentionDays": days, "registeredAt": registered}
        for step in reversed(range(_READINGS)):
            recorded = now - timedelta(hours=2 * step, minutes=random.randint(1, 50))
            value = Decimal(usual * 10 + random.randint(-15, 15)) / 10
            expires = recorded + timedelta(days=days)
            reading = {
                "deviceId": device_id,
                "recordedAt": recorded,
                "value": value,
                "unit": unit,
                "expiresAt": expires,
            }
            yield "Reading", reading
        yield "LatestReading", reading
