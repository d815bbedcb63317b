"""Devices and their readings."""

from gateway import Demo, Domain
from gateway.demo.devices import device, reading
from gateway.demo.devices.recording import RECORDING
from gateway.demo.devices.registering import REGISTERING
from gateway.demo.devices.seeds import rows
from gateway.demo.examples import read_examples
from gateway.demo.shops import TENANTS

_FILES = (device, reading)

DOMAIN = Domain(
    name="devices",
    description="Devices and their readings, kept for as many days as the device declares.",
    entities=tuple(entity for file in _FILES for entity in file.ENTITIES),
    patterns=tuple(pattern for file in _FILES for pattern in file.PATTERNS),
    mutations=(*REGISTERING, *RECORDING),
    demo=Demo(tenants=TENANTS, rows=rows, examples=read_examples("devices")),
)
