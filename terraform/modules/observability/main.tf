# Alarms are data: alarms.json lists them, with the log metric filters, the event rules and the graphs of the dashboard.
# This file repeats each alarm for what it watches and creates the resources. `gateway audit` and the index of
# docs/runbooks read the same file.
#
# Every metric is given with all its dimensions: CloudWatch accepts an alarm on a set of dimensions that nobody publishes,
# and the alarm never fires. A test compares each alarm with the sets that exist, and its period with how often the metric
# is published: some only every five minutes.

locals {
  data      = jsondecode(file("${path.module}/alarms.json"))
  namespace = "Gateway/${var.name}"

  provisioned = var.capacity_mode == "provisioned"
  operations  = sort(keys(var.latency_ms))
  kinds       = ["Read", "Write"]

  # the table, and each index: {table = {TableName}, GSI1 = {TableName, GlobalSecondaryIndexName}}
  places = merge(
    { table = tomap({ TableName = var.table_name }) },
    { for name in var.index_names : name => tomap({ TableName = var.table_name, GlobalSecondaryIndexName = name }) },
  )

  # the load balancer and the service, where this module's caller runs them
  gateways = [for gateway in [var.gateway] : gateway if gateway != null]

  most_per_second = {
    for place, expected in var.consumed_per_second : place => {
      Read  = var.on_demand_limits.read == null ? expected.read : 0.8 * var.on_demand_limits.read
      Write = var.on_demand_limits.write == null ? expected.write : 0.8 * var.on_demand_limits.write
    }
  }
  most = { for place in keys(local.places) : place => try(local.most_per_second[place], { Read = 0, Write = 0 }) }

  # `when` in alarms.json
  conditions = {
    always           = true
    on_demand        = !local.provisioned
    provisioned      = local.provisioned
    trail            = var.trail_log_group_name != null
    deployment_roles = var.trail_log_group_name != null && length(var.deployment_role_arns) > 0
    user_errors      = var.user_errors
    stream           = var.stream_role_name != null
  }

  # `threshold` in alarms.json, where it is a name; those of one place or operation are in `instances`
  thresholds = merge(var.thresholds, { gateway_p99_seconds = var.thresholds.gateway_p99_ms / 1000 })

  # `each` in alarms.json: what an alarm or a graph is repeated for. `place`, `kind`, `operation` and `limit` fill the
  # placeholders of names and texts.
  blank = { place = "", kind = "", operation = "", limit = "", dimensions = tomap({}), thresholds = tomap({}) }
  instances = {
    once      = [local.blank]
    table     = [merge(local.blank, { dimensions = local.places["table"] })]
    scan      = [merge(local.blank, { dimensions = tomap({ TableName = var.table_name, Operation = "Scan" }) })]
    kind      = [for kind in local.kinds : merge(local.blank, { kind = kind })]
    place     = [for place, dimensions in local.places : merge(local.blank, { place = place, dimensions = dimensions })]
    index     = [for place, dimensions in local.places : merge(local.blank, { place = place, dimensions = dimensions }) if place != "table"]
    operation = [for operation in local.operations : merge(local.blank, { operation = operation, dimensions = tomap({ TableName = var.table_name, Operation = operation }), thresholds = tomap(var.latency_ms[operation]) })]
    place_kind = [for pair in setproduct(keys(local.places), local.kinds) : merge(local.blank, {
      place      = pair[0]
      kind       = pair[1]
      limit      = tostring(local.most[pair[0]][pair[1]])
      dimensions = local.places[pair[0]]
      thresholds = tomap({ consumed = 60 * local.most[pair[0]][pair[1]] })
    })]
    # an alarm on capacity that never falls below this part of its ceiling would always be on
    ceiling = [for pair in setproduct(keys(local.places), local.kinds) : merge(local.blank, {
      place      = pair[0]
      kind       = pair[1]
      limit      = tostring(var.bounds[pair[0]][lower(pair[1])].max)
      dimensions = local.places[pair[0]]
      thresholds = tomap({ ceiling = var.bounds[pair[0]][lower(pair[1])].max * var.thresholds.ceiling_percent / 100 })
    }) if try(var.bounds[pair[0]][lower(pair[1])].min < var.bounds[pair[0]][lower(pair[1])].max * var.thresholds.ceiling_percent / 100, false)]
    balancer = [for gateway in local.gateways : merge(local.blank, { dimensions = tomap({ LoadBalancer = gateway.load_balancer }) })]
    target   = [for gateway in local.gateways : merge(local.blank, { dimensions = tomap({ LoadBalancer = gateway.load_balancer, TargetGroup = gateway.target_group }) })]
    service  = [for gateway in local.gateways : merge(local.blank, { dimensions = tomap({ ClusterName = gateway.cluster, ServiceName = gateway.service }) })]
    dax      = [for name in [var.dax_cluster] : merge(local.blank, { dimensions = tomap({ ClusterId = name }) }) if name != null]
  }

  # the alarms that apply here, each with the instances that it watches: one, or up to ten that are summed
  active = { for family, alarm in local.data.alarms : family => merge({ each = "once", sum = false }, alarm) if local.conditions[try(alarm.when, "always")] }
  repeated = concat(
    flatten([for family, alarm in local.active : [
      for instance in local.instances[alarm.each] : { family = family, number = 1, group = [instance] }
    ] if !alarm.sum]),
    flatten([for family, alarm in local.active : [
      for number, group in chunklist(local.instances[alarm.each], 10) : { family = family, number = number + 1, group = group }
    ] if alarm.sum]),
  )
  named = { for item in local.repeated : replace(replace(replace(replace(replace(item.family,
    "<place>", lower(item.group[0].place)),
    "<index>", lower(item.group[0].place)),
    "<kind>", lower(item.group[0].kind)),
    "<operation>", lower(item.group[0].operation)),
    "<n>", item.number) => merge(local.active[item.family], {
      group     = item.group
      threshold = try(tonumber(local.active[item.family].threshold), merge(local.thresholds, item.group[0].thresholds)[local.active[item.family].threshold])
  }) }
  alarms = { for name, alarm in local.named : name => merge(alarm, {
    says = replace(replace(replace(replace(replace(alarm.says,
      "{place}", alarm.group[0].place),
      "{kind}", lower(alarm.group[0].kind)),
      "{operation}", alarm.group[0].operation),
      "{threshold}", alarm.threshold),
    "{limit}", alarm.group[0].limit)
  }) }

  plain = { for name, alarm in local.alarms : name => alarm if !can(alarm.expression) && !alarm.sum }
  math = merge(
    { for name, alarm in local.alarms : name => merge(alarm, {
      metrics = { for id, metric in alarm.metrics : id => {
        namespace  = metric.namespace
        metric     = replace(metric.metric, "{Kind}", alarm.group[0].kind)
        dimensions = try(metric.of, "") == "log_group" ? tomap({ LogGroupName = aws_cloudwatch_log_group.gateway.name }) : alarm.group[0].dimensions
        statistic  = metric.statistic
      } }
    }) if can(alarm.expression) },
    { for name, alarm in local.alarms : name => merge(alarm, {
      # FILL, because a metric that was never published would leave the sum without a value
      expression = "SUM([${join(", ", [for number in range(length(alarm.group)) : "FILL(m${number}, 0)"])}])"
      metrics = { for number, instance in alarm.group : "m${number}" => {
        namespace  = alarm.namespace
        metric     = replace(alarm.metric, "{Kind}", instance.kind)
        dimensions = instance.dimensions
        statistic  = alarm.statistic
      } }
    }) if alarm.sum },
  )

  critical = concat(
    [for name, alarm in local.plain : aws_cloudwatch_metric_alarm.metric[name].alarm_name if alarm.severity == "critical"],
    [for name, alarm in local.math : aws_cloudwatch_metric_alarm.math[name].alarm_name if alarm.severity == "critical"],
  )
}

resource "aws_cloudwatch_metric_alarm" "metric" {
  for_each = local.plain

  alarm_name        = "${var.name}-${each.key}"
  alarm_description = "${each.value.says} Runbook: ${var.runbooks}/${each.value.runbook}.md"

  namespace          = each.value.namespace == "gateway" ? local.namespace : each.value.namespace
  metric_name        = replace(each.value.metric, "{Kind}", each.value.group[0].kind)
  dimensions         = each.value.group[0].dimensions
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
  for_each = local.math

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
        namespace   = metric_query.value.namespace
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
