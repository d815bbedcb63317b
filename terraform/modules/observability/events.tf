# What AWS reports as an event and not as a metric: changes of the table, failed backups and failed deployments. Events of
# API calls need a trail that records management events; the module `audit` creates one. Texts are in alarms.json.

locals {
  account   = data.aws_caller_identity.current.account_id
  table_arn = "arn:${data.aws_partition.current.partition}:dynamodb:${local.region}:${local.account}:table/${var.table_name}"
  # callers may name a table by its name or by its ARN
  table = { tableName = [var.table_name, local.table_arn] }

  # API calls on the table that take protection away; every one pages. No deployment of these modules makes them.
  table_calls = {
    table-deleted     = { eventName = ["DeleteTable"], requestParameters = local.table }
    table-unprotected = { eventName = ["UpdateTable"], requestParameters = merge(local.table, { deletionProtectionEnabled = [false] }) }
    table-unrecoverable = {
      eventName         = ["UpdateContinuousBackups"]
      requestParameters = merge(local.table, { pointInTimeRecoverySpecification = { pointInTimeRecoveryEnabled = [false] } })
    }
    table-encryption = {
      eventName = ["UpdateTable"]
      # CloudTrail's documentation does not show how it spells this one
      "$or" = [
        for name in ["sSESpecification", "SSESpecification", "sseSpecification"] :
        { requestParameters = merge(local.table, { (name) = { enabled = [true, false] } }) }
      ]
    }
    table-policy = { eventName = ["PutResourcePolicy"], requestParameters = { resourceArn = [{ prefix = local.table_arn }] } }
  }

  patterns = merge(
    { for name, call in local.table_calls : name => {
      pattern = jsonencode({
        source      = ["aws.dynamodb"]
        detail-type = ["AWS API Call via CloudTrail"]
        detail      = merge({ eventSource = ["dynamodb.amazonaws.com"] }, call)
      })
      paths   = { what = "$.detail.eventName", who = "$.detail.userIdentity.arn", time = "$.detail.eventTime" }
      message = "<what> by <who> at <time>."
    } },
    { for name in ["backup-failed"] : name => {
      pattern = jsonencode({
        source      = ["aws.backup"]
        detail-type = ["Backup Job State Change", "Copy Job State Change"]
        detail      = { state = ["ABORTED", "EXPIRED", "FAILED"], resourceArn = [local.table_arn] }
      })
      paths   = { what = "$.detail-type", state = "$.detail.state", time = "$.time" }
      message = "<what>: <state> at <time>."
    } if var.backups },
    { for gateway in local.gateways : "deployment-failed" => {
      pattern = jsonencode({
        source      = ["aws.ecs"]
        detail-type = ["ECS Deployment State Change"]
        resources   = ["arn:${data.aws_partition.current.partition}:ecs:${local.region}:${local.account}:service/${gateway.cluster}/${gateway.service}"]
        detail      = { eventName = ["SERVICE_DEPLOYMENT_FAILED"] }
      })
      paths   = { reason = "$.detail.reason", time = "$.time" }
      message = "<reason> At <time>."
    } },
  )
  events = { for name, event in local.patterns : name => merge(event, local.data.event_rules[name]) }
}

data "aws_partition" "current" {}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = local.events

  name          = "${var.name}-${each.key}"
  description   = "${each.value.says} Runbook: ${var.runbooks}/${each.value.runbook}.md"
  event_pattern = each.value.pattern
}

resource "aws_cloudwatch_event_target" "this" {
  for_each = local.events

  rule      = aws_cloudwatch_event_rule.this[each.key].name
  target_id = each.value.topic
  arn       = local.topics[each.value.topic]

  input_transformer {
    input_paths    = each.value.paths
    input_template = "\"${var.name}: ${each.value.says} ${each.value.message} Runbook: ${var.runbooks}/${each.value.runbook}.md\""
  }
}
