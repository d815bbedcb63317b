data "aws_region" "current" {}

locals {
  region = data.aws_region.current.id

  # a graph takes the dimensions as a list: name, value, name, value; rows of three graphs
  graphs = [for graph in local.data.graphs : {
    title = graph.title
    stat  = graph.stat
    metrics = concat([for metric in graph.metrics : [for instance in local.instances[graph.each] : concat(
      [graph.namespace == "gateway" ? local.namespace : graph.namespace, metric.metric],
      flatten([for name in sort(keys(instance.dimensions)) : [name, instance.dimensions[name]]]),
      [for stat in [try(metric.stat, null)] : { stat = stat } if stat != null],
    )]]...)
  }]
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
