"""Devices and their readings."""

from gateway import Demo, Domain
from gateway.demo.devices.device import ENTITIES, PATTERNS
from gateway.demo.devices.recording import RECORDING, REGISTERING
from gateway.demo.devices.seeds import rows
from gateway.demo.examples import read_examples
from gateway.demo.shops import TENANTS

DOMAIN = Domain(
    name="devices",
    description="Devices and their readings, kept for as many days as the device declares.",
    entities=ENTITIES,
    patterns=PATTERNS,
    mutations=(*REGISTERING, *RECORDING),
    demo=Demo(tenants=TENANTS, rows=rows, examples=read_examples("devices")),
)
