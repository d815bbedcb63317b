# The log group of the gateway, and the metrics that CloudWatch counts from its lines and from those of CloudTrail.

locals {
  # a new version of the boundary names no role
  isolation_layers = concat(
    [for name in compact([var.tenant_role.name, var.gateway_role_name, var.stream_role_name]) : "($.requestParameters.roleName = \"${name}\")"],
    ["($.requestParameters.policyArn = \"${var.tenant_role.boundary_arn}\")"],
  )
  issuer       = "$.userIdentity.sessionContext.sessionIssuer.arn"
  role_changed = "($.eventSource = \"iam.amazonaws.com\") && (${join(" || ", local.isolation_layers)}) && ($.errorCode NOT EXISTS)"
  # by somebody who is no role, or by another role; without deployment roles, by anybody
  by_others      = length(var.deployment_role_arns) == 0 ? "" : " && ((${local.issuer} NOT EXISTS) || (${join(" && ", [for arn in sort(var.deployment_role_arns) : "(${local.issuer} != \"${arn}\")"])}))"
  by_deployments = join(" || ", [for arn in sort(var.deployment_role_arns) : "(${local.issuer} = \"${arn}\")"])

  trail_filters = {
    for name, filter in local.data.trail_filters : name => {
      metric  = filter.metric
      pattern = replace(replace(replace(replace(filter.pattern, "{tenant_role_arn}", var.tenant_role.arn), "{role_changed}", local.role_changed), "{by_others}", local.by_others), "{by_deployments}", local.by_deployments)
    } if local.conditions[try(filter.when, "trail")]
  }
}

resource "aws_cloudwatch_log_group" "gateway" {
  #checkov:skip=CKV_AWS_338:The operator decides how long; the default is a year
  name              = "/gateway/${var.name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn
}

resource "aws_cloudwatch_log_metric_filter" "gateway" {
  for_each = local.data.log_filters

  name           = "${var.name}-${each.key}"
  log_group_name = aws_cloudwatch_log_group.gateway.name
  pattern        = each.value.pattern

  metric_transformation {
    namespace = local.namespace
    name      = each.value.metric
    value     = try(each.value.value, "1")
    unit      = try(each.value.unit, "Count")
    # counts start at zero; a duration of zero would be a lie
    default_value = can(each.value.value) ? null : "0"
  }
}

resource "aws_cloudwatch_log_metric_filter" "trail" {
  for_each = local.trail_filters

  name           = "${var.name}-${each.key}"
  log_group_name = var.trail_log_group_name
  pattern        = each.value.pattern

  metric_transformation {
    namespace     = local.namespace
    name          = each.value.metric
    value         = "1"
    unit          = "Count"
    default_value = "0"
  }
}
