"""How many connections to AWS there are, and how long and how large things may get."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WireLimits:
    # for each endpoint, shared by all tenants; a connection carries one request at a time
    connections: int = 100
    connect_seconds: float = 2.0
    # without a byte from AWS
    read_seconds: float = 5.0
    # of a call with all its attempts; a caller's deadline can only shorten it
    total_seconds: float = 15.0
    # how long a connection is kept without work: shorter than AWS and what lies between keep theirs
    idle_seconds: float = 20.0
    # headers and body; the largest answer of DynamoDB is 16 MB of items before they are written as JSON
    answer_bytes: int = 64 * 1024 * 1024
