# Alarms are values: the files table_alarms.tf, gateway_alarms.tf and capacity_alarms.tf say what is watched, this one
# makes the resources. Every metric is given with all its dimensions: CloudWatch takes an alarm on a set of dimensions
# that nobody publishes without a word, and the alarm never fires. A test compares each with the sets that exist, and its
# period with how often the metric is published: some only every five minutes.

locals {
  alarms = merge(local.table_alarms, local.capacity_alarms, local.gateway_alarms, local.trail_alarms, local.dax_alarms)
  maths  = merge(local.table_maths, local.capacity_maths, local.service_maths)

  critical = concat(
    [for name, alarm in local.alarms : aws_cloudwatch_metric_alarm.metric[name].alarm_name if alarm.severity == "critical"],
    [for name, alarm in local.maths : aws_cloudwatch_metric_alarm.math[name].alarm_name if alarm.severity == "critical"],
  )
}

resource "aws_cloudwatch_metric_alarm" "metric" {
  for_each = local.alarms

  alarm_name        = "${var.name}-${each.key}"
  alarm_description = "${each.value.says} Runbook: ${var.runbooks}/${each.value.runbook}.md"

  namespace          = each.value.namespace
  metric_name        = each.value.metric
  dimensions         = each.value.dimensions
  statistic          = try(each.value.statistic, null)
  extended_statistic = try(each.value.percentile, null)
  period             = try(each.value.period, 60)

  comparison_operator = try(each.value.comparison, "GreaterThanThreshold")
  threshold           = each.value.threshold
  evaluation_periods  = try(each.value.periods, 5)
  datapoints_to_alarm = try(each.value.points, 3)

  # counts are published only when they are not zero
  treat_missing_data                    = try(each.value.missing, "notBreaching")
  evaluate_low_sample_count_percentiles = can(each.value.percentile) ? "ignore" : null

  actions_enabled = var.actions_enabled
  alarm_actions   = [aws_sns_topic.notice.arn]
  ok_actions      = [aws_sns_topic.notice.arn]

  tags = { severity = each.value.severity }
}

resource "aws_cloudwatch_metric_alarm" "math" {
  for_each = local.maths

  alarm_name        = "${var.name}-${each.key}"
  alarm_description = "${each.value.says} Runbook: ${var.runbooks}/${each.value.runbook}.md"

  comparison_operator = "GreaterThanThreshold"
  threshold           = each.value.threshold
  evaluation_periods  = try(each.value.periods, 5)
  datapoints_to_alarm = try(each.value.points, 3)
  treat_missing_data  = "notBreaching"

  metric_query {
    id          = "result"
    expression  = each.value.expression
    label       = each.key
    return_data = true
  }

  dynamic "metric_query" {
    for_each = each.value.metrics

    content {
      id = metric_query.key

      metric {
        namespace   = try(metric_query.value.namespace, "AWS/DynamoDB")
        metric_name = metric_query.value.metric
        dimensions  = metric_query.value.dimensions
        stat        = metric_query.value.statistic
        period      = try(each.value.period, 60)
      }
    }
  }

  actions_enabled = var.actions_enabled
  alarm_actions   = [aws_sns_topic.notice.arn]
  ok_actions      = [aws_sns_topic.notice.arn]

  tags = { severity = each.value.severity }
}

# The one alarm that pages. Single alarms go to the other topic, so that one fault is one call at night.
resource "aws_cloudwatch_composite_alarm" "data_plane" {
  alarm_name        = "${var.name}-data-plane"
  alarm_description = "At least one critical alarm of ${var.name}. Runbook: ${var.runbooks}/README.md"
  alarm_rule        = join(" OR ", [for name in sort(local.critical) : "ALARM(\"${name}\")"])

  actions_enabled = var.actions_enabled
  alarm_actions   = [aws_sns_topic.page.arn]
  ok_actions      = [aws_sns_topic.page.arn]

  tags = { severity = "critical" }
}
