"""Example operations of devices, one for each kind of access pattern; the playground offers them."""

from gateway import Example

EXAMPLES = (
    Example(
        title="Devices and what they measured",
        about=(
            "Readings are stored in one partition per hour: the last five hours read five partitions, however long the "
            "device has been running."
        ),
        tab=True,
        query="""query DeviceReadings {
  allDevices(first: 2) {
    nodes {
      deviceId
      title
      location
      latest {
        recordedAt
        value
        unit
      }
      readings(lastHours: 5, first: 3) {
        nodes {
          recordedAt
          value
        }
      }
    }
  }
}
""",
    ),
    Example(
        title="The last day of one device",
        about="Time buckets are read ahead in parallel, newest first, and only until the page is full.",
        query="""query LastDay($deviceId: ID!, $hours: Int) {
  readings(deviceId: $deviceId, lastHours: $hours, first: 20) {
    nodes {
      recordedAt
      value
      unit
      expiresAt
    }
    pageInfo {
      hasNextPage
    }
  }
}
""",
        variables={"deviceId": "d-1001", "hours": 24},
        tenants={"initech": {"deviceId": "d-5001", "hours": 24}},
    ),
    Example(
        title="Record a reading",
        about=(
            "The reading goes to the partition of its hour and expires by itself; the device's latest value "
            "follows. Needs `editor`."
        ),
        query="""mutation RecordReading($input: RecordReadingInput!) {
  recordReading(input: $input) {
    reading {
      recordedAt
      value
      expiresAt
    }
    errors {
      code
      message
      field
    }
  }
}
""",
        variables={"input": {"deviceId": "d-1001", "recordedAt": "@now", "value": "4.2", "unit": "°C"}},
        tenants={"initech": {"input": {"deviceId": "d-5001", "recordedAt": "@now", "value": "4.2", "unit": "°C"}}},
    ),
)
