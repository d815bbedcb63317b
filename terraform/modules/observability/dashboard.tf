data "aws_region" "current" {}

locals {
  region = data.aws_region.current.id

  # dimensions as a graph takes them: name, value, name, value
  flat = { for place, dimensions in local.places : place => flatten([for name in sort(keys(dimensions)) : [name, dimensions[name]]]) }

  # rows of three graphs
  graphs = [
    { title = "Calls per minute", stat = "SampleCount", metrics = [for operation in local.operations : ["AWS/DynamoDB", "SuccessfulRequestLatency", "TableName", var.table_name, "Operation", operation]] },
    { title = "p99 latency in DynamoDB (ms)", stat = "p99", metrics = [for operation in local.operations : ["AWS/DynamoDB", "SuccessfulRequestLatency", "TableName", var.table_name, "Operation", operation]] },
    { title = "System errors", stat = "Sum", metrics = [for operation in local.operations : ["AWS/DynamoDB", "SystemErrors", "TableName", var.table_name, "Operation", operation]] },
    { title = "Consumed read units", stat = "Sum", metrics = [for place in keys(local.places) : concat(["AWS/DynamoDB", "ConsumedReadCapacityUnits"], local.flat[place])] },
    { title = "Consumed write units", stat = "Sum", metrics = [for place in keys(local.places) : concat(["AWS/DynamoDB", "ConsumedWriteCapacityUnits"], local.flat[place])] },
    { title = "Throttled events", stat = "Sum", metrics = [for pair in setproduct(keys(local.places), local.kinds) : concat(["AWS/DynamoDB", "${pair[1]}ThrottleEvents"], local.flat[pair[0]])] },
    {
      title = "Why reads and writes are throttled (table)", stat = "Sum"
      metrics = [
        for pair in setproduct(local.kinds, ["KeyRangeThroughput", "ProvisionedThroughput", "MaxOnDemandThroughput", "AccountLimit"]) :
        ["AWS/DynamoDB", "${pair[0]}${pair[1]}ThrottleEvents", "TableName", var.table_name]
      ]
    },
    { title = "Conflicts and expired items", stat = "Sum", metrics = [for metric in ["ConditionalCheckFailedRequests", "TransactionConflict", "TimeToLiveDeletedItemCount"] : ["AWS/DynamoDB", metric, "TableName", var.table_name]] },
    { title = "Denials, refused tokens, failed sessions", stat = "Sum", metrics = [for metric in ["IsolationBreaches", "ForeignRows", "Denials", "RefusedTokens", "FailedSessions", "Failures"] : [local.namespace, metric]] },
    { title = "Gateway: duration of operations (p50, p99 in ms)", stat = "p99", metrics = [[local.namespace, "OperationDuration"], [local.namespace, "OperationDuration", { stat = "p50" }]] },
  ]
}

resource "aws_cloudwatch_dashboard" "this" {
  dashboard_name = var.name
  dashboard_body = jsonencode({
    widgets = concat(
      [{
        type = "alarm", x = 0, y = 0, width = 24, height = 4
        properties = {
          title  = "Critical alarms"
          alarms = concat([aws_cloudwatch_composite_alarm.data_plane.arn], [for alarm in concat(values(aws_cloudwatch_metric_alarm.metric), values(aws_cloudwatch_metric_alarm.math)) : alarm.arn if alarm.tags["severity"] == "critical"])
        }
      }],
      [
        for number, graph in local.graphs : {
          type       = "metric", x = 8 * (number % 3), y = 4 + 6 * floor(number / 3), width = 8, height = 6
          properties = { title = graph.title, region = local.region, period = 60, stat = graph.stat, metrics = graph.metrics }
        }
      ],
    )
  })
}
