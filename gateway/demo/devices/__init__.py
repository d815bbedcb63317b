"""Devices and their readings."""

from gateway.demo.devices import device, reading
from gateway.demo.devices.recording import RECORDING
from gateway.demo.devices.registering import REGISTERING
from gateway.graph.mutation.mutation import Mutation
from gateway.model.model import Domain

_FILES = (device, reading)

DOMAIN = Domain(
    name="devices",
    description="Devices and their readings, kept for as many days as the device declares.",
    entities=tuple(entity for file in _FILES for entity in file.ENTITIES),
    patterns=tuple(pattern for file in _FILES for pattern in file.PATTERNS),
)
MUTATIONS: tuple[Mutation, ...] = (*REGISTERING, *RECORDING)
