# What the gateway's own log lines tell, what CloudTrail tells of the tenants' role, and the service that runs it all.

locals {
  namespace = "Gateway/${var.name}"

  # the first codes of an operation: a pattern can name the elements of a list only one by one
  denied  = [for number in range(3) : "($.codes[${number}] = \"FORBIDDEN\")"]
  refused = "$.codes[0] = \"UNAUTHENTICATED\""
  # an operation can fail with status 200, so the status is not asked; throttling has alarms of its own
  failed = [for code in ["UNAVAILABLE", "TIMEOUT", "INTERNAL"] : "($.outcome = \"${code}\")"]

  lines = {
    breaches  = { metric = "IsolationBreaches", pattern = "{ ($.logger = \"gateway.failure\") && ($.exception = \"*IsolationBreach*\") }" }
    foreign   = { metric = "ForeignRows", pattern = "{ ($.logger = \"gateway.isolation\") && ($.event = \"foreign_row\") }" }
    denials   = { metric = "Denials", pattern = "{ ($.logger = \"gateway.operation\") && (${join(" || ", local.denied)}) }" }
    refusals  = { metric = "DeniedByAws", pattern = "{ $.logger = \"gateway.denied_by_aws\" }" }
    tokens    = { metric = "RefusedTokens", pattern = "{ ($.logger = \"gateway.operation\") && (${local.refused}) }" }
    sessions  = { metric = "FailedSessions", pattern = "{ ($.logger = \"gateway.sessions\") && ($.level = \"WARNING\") }" }
    issuers   = { metric = "UnreachableIssuers", pattern = "{ ($.logger = \"gateway.issuers\") && ($.level = \"WARNING\") }" }
    failures  = { metric = "Failures", pattern = "{ ($.logger = \"gateway.operation\") && (${join(" || ", local.failed)}) }" }
    durations = { metric = "OperationDuration", pattern = "{ ($.logger = \"gateway.operation\") && ($.duration_ms >= 0) }", value = "$.duration_ms", unit = "Milliseconds" }
    consumed  = { metric = "ConsumedCapacity", pattern = "{ ($.logger = \"gateway.operation\") && ($.consumed_capacity > 0) }", value = "$.consumed_capacity" }
  }

  gateway_alarms = {
    for name, alarm in merge(local.line_alarms, local.service_alarms) : name => alarm
  }

  line_alarms = {
    isolation-breach = {
      severity   = "critical"
      runbook    = "isolation"
      says       = "The gateway was about to use a row or a session of another tenant, and stopped."
      namespace  = local.namespace
      metric     = "IsolationBreaches"
      dimensions = {}
      statistic  = "Sum"
      threshold  = 0
      periods    = 1
      points     = 1
    }
    foreign-rows = {
      severity   = "critical"
      runbook    = "foreign-rows"
      says       = "A row of one tenant lies in another tenant's partition of an index; the gateway leaves it out."
      namespace  = local.namespace
      metric     = "ForeignRows"
      dimensions = {}
      statistic  = "Sum"
      threshold  = 0
      periods    = 1
      points     = 1
    }
    # by the gateway's own lines, and by the trail where there is one
    denied-by-aws = {
      severity   = "critical"
      runbook    = "isolation"
      says       = "AWS refused a tenant's session something that the gateway had let pass."
      namespace  = local.namespace
      metric     = "DeniedByAws"
      dimensions = {}
      statistic  = "Sum"
      threshold  = 0
      periods    = 1
      points     = 1
    }
    denials = {
      severity   = "warning"
      runbook    = "isolation"
      says       = "Policies refuse more than ${var.thresholds.denials} operations in five minutes: somebody tries, or a role is too narrow."
      namespace  = local.namespace
      metric     = "Denials"
      dimensions = {}
      statistic  = "Sum"
      threshold  = var.thresholds.denials
      period     = 300
      periods    = 1
      points     = 1
    }
    refused-tokens = {
      severity   = "warning"
      runbook    = "tokens"
      says       = "More than ${var.thresholds.refused_tokens} requests in five minutes come without a valid token."
      namespace  = local.namespace
      metric     = "RefusedTokens"
      dimensions = {}
      statistic  = "Sum"
      threshold  = var.thresholds.refused_tokens
      period     = 300
      periods    = 1
      points     = 1
    }
    failed-sessions = {
      severity   = "critical"
      runbook    = "sessions"
      says       = "STS gives the gateway no sessions: tenants whose session runs out are not served."
      namespace  = local.namespace
      metric     = "FailedSessions"
      dimensions = {}
      statistic  = "Sum"
      threshold  = var.thresholds.failed_sessions
      period     = 300
      periods    = 1
      points     = 1
    }
    gateway-failures = {
      severity   = "critical"
      runbook    = "gateway"
      says       = "More than ${var.thresholds.failed_operations} operations in a minute fail because the table, STS or an issuer does not answer, or by a bug."
      namespace  = local.namespace
      metric     = "Failures"
      dimensions = {}
      statistic  = "Sum"
      threshold  = var.thresholds.failed_operations
    }
    unreachable-issuers = {
      severity   = "warning"
      runbook    = "tokens"
      says       = "The keys of a token issuer cannot be fetched; tokens are refused once the kept keys are too old."
      namespace  = local.namespace
      metric     = "UnreachableIssuers"
      dimensions = {}
      statistic  = "Sum"
      threshold  = 0
      period     = 300
      periods    = 3
      points     = 2
    }
    gateway-p99 = {
      severity   = "warning"
      runbook    = "gateway"
      says       = "One in a hundred operations takes the gateway longer than ${var.thresholds.gateway_p99_ms} ms."
      namespace  = local.namespace
      metric     = "OperationDuration"
      dimensions = {}
      percentile = "p99"
      threshold  = var.thresholds.gateway_p99_ms
    }
  }

  balanced = [for gateway in [var.gateway] : gateway if gateway != null]
  service_alarms = merge(
    { for gateway in local.balanced : "gateway-5xx" => {
      severity   = "critical"
      runbook    = "gateway"
      says       = "The gateway answers with 5xx."
      namespace  = "AWS/ApplicationELB"
      metric     = "HTTPCode_Target_5XX_Count"
      dimensions = { LoadBalancer = gateway.load_balancer, TargetGroup = gateway.target_group }
      statistic  = "Sum"
      threshold  = 5
    } },
    { for gateway in local.balanced : "gateway-unreachable" => {
      severity   = "critical"
      runbook    = "gateway"
      says       = "The load balancer itself answers with 5xx: no task is up, or none answers in time."
      namespace  = "AWS/ApplicationELB"
      metric     = "HTTPCode_ELB_5XX_Count"
      dimensions = { LoadBalancer = gateway.load_balancer }
      statistic  = "Sum"
      threshold  = 5
    } },
    { for gateway in local.balanced : "gateway-no-host" => {
      severity   = "critical"
      runbook    = "gateway"
      says       = "No task of the gateway is healthy."
      namespace  = "AWS/ApplicationELB"
      metric     = "HealthyHostCount"
      dimensions = { LoadBalancer = gateway.load_balancer, TargetGroup = gateway.target_group }
      statistic  = "Maximum"
      comparison = "LessThanThreshold"
      threshold  = 1
      periods    = 3
      points     = 3
      # without a task there is nothing to count
      missing = "breaching"
    } },
    { for gateway in local.balanced : "gateway-unhealthy" => {
      severity   = "critical"
      runbook    = "gateway"
      says       = "A task of the gateway does not pass its health check."
      namespace  = "AWS/ApplicationELB"
      metric     = "UnHealthyHostCount"
      dimensions = { LoadBalancer = gateway.load_balancer, TargetGroup = gateway.target_group }
      statistic  = "Maximum"
      threshold  = 0
      periods    = 5
      points     = 5
    } },
    { for gateway in local.balanced : "gateway-response-p99" => {
      severity   = "warning"
      runbook    = "gateway"
      says       = "One in a hundred requests waits longer than ${var.thresholds.gateway_p99_ms} ms at the load balancer."
      namespace  = "AWS/ApplicationELB"
      metric     = "TargetResponseTime"
      dimensions = { LoadBalancer = gateway.load_balancer, TargetGroup = gateway.target_group }
      percentile = "p99"
      threshold  = var.thresholds.gateway_p99_ms / 1000
    } },
    { for pair in setproduct(local.balanced, ["CPU", "Memory"]) : "gateway-${lower(pair[1])}" => {
      severity   = "warning"
      runbook    = "gateway"
      says       = "The tasks of the gateway use more than 85 percent of their ${lower(pair[1])}."
      namespace  = "AWS/ECS"
      metric     = "${pair[1]}Utilization"
      dimensions = { ClusterName = pair[0].cluster, ServiceName = pair[0].service }
      statistic  = "Average"
      threshold  = 85
      periods    = 10
      points     = 10
    } },
  )

  # the alarms on log lines see nothing where no line arrives; health checks are no requests here, and write none
  service_maths = { for gateway in local.balanced : "gateway-silent" => {
    severity   = "critical"
    runbook    = "gateway"
    says       = "The gateway is asked, and none of its log lines arrives: the alarms on them are blind."
    expression = "IF(FILL(requests, 0) >= 60 AND FILL(lines, 0) < 1, 1, 0)"
    metrics = {
      requests = { namespace = "AWS/ApplicationELB", metric = "RequestCount", dimensions = { LoadBalancer = gateway.load_balancer, TargetGroup = gateway.target_group }, statistic = "Sum" }
      lines    = { namespace = "AWS/Logs", metric = "IncomingLogEvents", dimensions = { LogGroupName = aws_cloudwatch_log_group.gateway.name }, statistic = "Sum" }
    }
    threshold = 0
    periods   = 10
    points    = 10
  } }

  trailed = [for name in [var.trail_log_group_name] : name if name != null]
  # a new version of the boundary names no role
  fences = [
    "($.requestParameters.roleName = \"${var.tenant_role.name}\")",
    "($.requestParameters.roleName = \"${var.gateway_role_name}\")",
    "($.requestParameters.policyArn = \"${var.tenant_role.boundary_arn}\")",
  ]
  issuer  = "$.userIdentity.sessionContext.sessionIssuer.arn"
  changed = "($.eventSource = \"iam.amazonaws.com\") && (${join(" || ", local.fences)}) && ($.errorCode NOT EXISTS)"
  # by somebody who is no role, or by another role; with nobody to leave out, by anybody
  by_others = length(var.deployment_role_arns) == 0 ? "" : " && ((${local.issuer} NOT EXISTS) || (${join(" && ", [for arn in sort(var.deployment_role_arns) : "(${local.issuer} != \"${arn}\")"])}))"
  deployed  = join(" || ", [for arn in sort(var.deployment_role_arns) : "(${local.issuer} = \"${arn}\")"])

  # the gateway asks the same policies before every call: a denial by AWS means that the two fences differ
  trail_lines = merge(
    { for name in local.trailed : "denied" => {
      metric  = "DeniedByAws"
      pattern = "{ ($.errorCode = \"AccessDenied*\") && (${local.issuer} = \"${var.tenant_role.arn}\") }"
    } },
    { for name in local.trailed : "changed" => {
      metric  = "RoleChanges"
      pattern = "{ ${local.changed}${local.by_others} }"
    } },
    { for name in local.trailed : "deployed" => {
      metric  = "RoleDeployments"
      pattern = "{ ${local.changed} && (${local.deployed}) }"
    } if length(var.deployment_role_arns) > 0 },
  )
  trail_alarms = merge(
    { for name in local.trailed : "roles-changed" => {
      severity   = "critical"
      runbook    = "isolation"
      says       = "Somebody changed the tenants' role, its boundary or the gateway's role${length(var.deployment_role_arns) > 0 ? ", and it was no deployment" : ""}."
      namespace  = local.namespace
      metric     = "RoleChanges"
      dimensions = {}
      statistic  = "Sum"
      threshold  = 0
      periods    = 1
      points     = 1
    } },
    { for name in local.trailed : "roles-deployed" => {
      severity   = "info"
      runbook    = "isolation"
      says       = "A deployment changed the tenants' role, its boundary or the gateway's role."
      namespace  = local.namespace
      metric     = "RoleDeployments"
      dimensions = {}
      statistic  = "Sum"
      threshold  = 0
      periods    = 1
      points     = 1
    } if length(var.deployment_role_arns) > 0 },
  )

  dax = {
    cpu       = { metric = "CPUUtilization", statistic = "Average", threshold = 70, says = "The DAX cluster uses more than 70 percent of its processors." }
    memory    = { metric = "CacheMemoryUtilization", statistic = "Average", threshold = 90, says = "The memory of the DAX cluster is nearly full." }
    faults    = { metric = "FaultRequestCount", statistic = "Sum", threshold = 0, says = "The DAX cluster fails requests." }
    errors    = { metric = "ErrorRequestCount", statistic = "Sum", threshold = 100, says = "The DAX cluster refuses requests as invalid." }
    throttled = { metric = "ThrottledRequestCount", statistic = "Sum", threshold = 0, says = "The DAX cluster throttles requests." }
    evictions = { metric = "EvictedSize", statistic = "Sum", threshold = 0, says = "The DAX cluster drops items before their time: it is too small." }
  }
  dax_alarms = { for pair in setproduct([for name in [var.dax_cluster] : name if name != null], keys(local.dax)) : "dax-${pair[1]}" => {
    severity   = "warning"
    runbook    = "dax"
    says       = local.dax[pair[1]].says
    namespace  = "AWS/DAX"
    metric     = local.dax[pair[1]].metric
    dimensions = { ClusterId = pair[0] }
    statistic  = local.dax[pair[1]].statistic
    threshold  = local.dax[pair[1]].threshold
  } }
}

resource "aws_cloudwatch_log_group" "gateway" {
  #checkov:skip=CKV_AWS_338:The operator decides how long; the default is a year
  name              = "/gateway/${var.name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn
}

resource "aws_cloudwatch_log_metric_filter" "gateway" {
  for_each = local.lines

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
  for_each = local.trail_lines

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
