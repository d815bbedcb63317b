# What DynamoDB itself reports about the table and its indexes.

locals {
  operations = sort(keys(var.latency_ms))

  # the table, and each index: {table = {TableName}, GSI1 = {TableName, GlobalSecondaryIndexName}}
  places = merge(
    { table = { TableName = var.table_name } },
    { for name in var.index_names : name => { TableName = var.table_name, GlobalSecondaryIndexName = name } },
  )
  kinds = ["Read", "Write"]

  table_alarms = merge(
    {
      for pair in setproduct(keys(local.places), local.kinds) : "${lower(pair[0])}-${lower(pair[1])}-throttled" => {
        severity   = "critical"
        runbook    = "throttling"
        says       = pair[0] == "table" ? "DynamoDB throttles ${lower(pair[1])}s of the table." : "DynamoDB throttles ${lower(pair[1])}s of the index ${pair[0]}${pair[1] == "Write" ? ", which holds up writes of the table" : ""}."
        namespace  = "AWS/DynamoDB"
        metric     = "${pair[1]}ThrottleEvents"
        dimensions = local.places[pair[0]]
        statistic  = "Sum"
        threshold  = var.thresholds.throttled_requests
      }
    },
    {
      for operation in local.operations : "${lower(operation)}-p99" => {
        severity   = "warning"
        runbook    = "latency"
        says       = "One in a hundred ${operation} calls takes longer than ${var.latency_ms[operation].p99} ms inside DynamoDB."
        namespace  = "AWS/DynamoDB"
        metric     = "SuccessfulRequestLatency"
        dimensions = { TableName = var.table_name, Operation = operation }
        percentile = "p99"
        threshold  = var.latency_ms[operation].p99
      }
    },
    {
      for operation in local.operations : "${lower(operation)}-average" => {
        severity   = "warning"
        runbook    = "latency"
        says       = "${operation} calls take longer than ${var.latency_ms[operation].average} ms inside DynamoDB on average, for ten minutes."
        namespace  = "AWS/DynamoDB"
        metric     = "SuccessfulRequestLatency"
        dimensions = { TableName = var.table_name, Operation = operation }
        statistic  = "Average"
        threshold  = var.latency_ms[operation].average
        periods    = 10
        points     = 10
      }
    },
    {
      scans = {
        severity   = "warning"
        runbook    = "scans"
        says       = "Somebody scans the table; the gateway never does."
        namespace  = "AWS/DynamoDB"
        metric     = "SuccessfulRequestLatency"
        dimensions = { TableName = var.table_name, Operation = "Scan" }
        statistic  = "SampleCount"
        threshold  = 0
        periods    = 1
        points     = 1
      }
    },
    {
      for name in var.index_names : "${lower(name)}-backfill-throttled" => {
        severity   = "info"
        runbook    = "index-backfill"
        says       = "The building of the index ${name} is throttled and takes longer."
        namespace  = "AWS/DynamoDB"
        metric     = "OnlineIndexThrottleEvents"
        dimensions = local.places[name]
        statistic  = "Sum"
        threshold  = 0
        # published every five minutes
        period  = 300
        periods = 1
        points  = 1
      }
    },
    {
      for name in ["user-errors"] : name => {
        severity   = "info"
        runbook    = "user-errors"
        says       = "Requests to DynamoDB are refused as invalid, somewhere in the account."
        namespace  = "AWS/DynamoDB"
        metric     = "UserErrors"
        dimensions = {}
        statistic  = "Sum"
        threshold  = 100
        period     = 300
      } if var.user_errors
    },
  )

  # one metric per operation: neither metric exists for the table as a whole
  by_operation = {
    for metric in ["ThrottledRequests", "SystemErrors"] : metric => {
      for number, operation in local.operations : "m${number}" => {
        metric     = metric
        dimensions = { TableName = var.table_name, Operation = operation }
        statistic  = "Sum"
      }
    }
  }

  # a partition that is hotter than DynamoDB serves, wherever it is; ten metrics to an alarm
  key_ranges = chunklist([
    for pair in setproduct(keys(local.places), local.kinds) : {
      metric     = "${pair[1]}KeyRangeThroughputThrottleEvents"
      dimensions = local.places[pair[0]]
      statistic  = "Sum"
    }
  ], 10)

  table_maths = merge(
    {
      throttled-requests = {
        severity   = "critical"
        runbook    = "throttling"
        says       = "DynamoDB throttles whole requests."
        expression = local.sums["ThrottledRequests"]
        metrics    = local.by_operation["ThrottledRequests"]
        threshold  = var.thresholds.throttled_requests
      }
      system-errors = {
        severity   = "critical"
        runbook    = "system-errors"
        says       = "DynamoDB answers with errors of its own."
        expression = local.sums["SystemErrors"]
        metrics    = local.by_operation["SystemErrors"]
        threshold  = var.thresholds.system_errors
      }
    },
    {
      for chunk, metrics in local.key_ranges : "hot-partition-${chunk + 1}" => {
        severity   = "warning"
        runbook    = "hot-partition"
        says       = "One partition is asked for more than DynamoDB serves from it: a hot tenant or a hot key."
        expression = "SUM([${join(", ", [for number in range(length(metrics)) : "FILL(m${number}, 0)"])}])"
        metrics    = { for number, metric in metrics : "m${number}" => metric }
        threshold  = 0
      }
    },
  )

  # FILL, because a metric that was never published would leave the sum without a value
  sums = { for metric, queries in local.by_operation : metric => "SUM([${join(", ", [for id in sort(keys(queries)) : "FILL(${id}, 0)"])}])" }
}
