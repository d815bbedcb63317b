# How much is consumed of what there is: by autoscaling's bounds in provisioned mode, by a limit or a figure on demand.

locals {
  provisioned = var.capacity_mode == "provisioned"

  most_per_second = {
    for place, expected in var.consumed_per_second : place => {
      Read  = var.on_demand_limits.read == null ? expected.read : 0.8 * var.on_demand_limits.read
      Write = var.on_demand_limits.write == null ? expected.write : 0.8 * var.on_demand_limits.write
    }
  }

  # capacity that never falls below this part of its ceiling would be an alarm that is always on
  ceilings = {
    for pair in setproduct(keys(local.places), local.kinds) : "${lower(pair[0])}-${lower(pair[1])}-ceiling" => {
      place     = pair[0]
      kind      = pair[1]
      max       = var.bounds[pair[0]][lower(pair[1])].max
      threshold = var.bounds[pair[0]][lower(pair[1])].max * var.thresholds.ceiling_percent / 100
    } if local.provisioned && try(var.bounds[pair[0]][lower(pair[1])].min < var.bounds[pair[0]][lower(pair[1])].max * var.thresholds.ceiling_percent / 100, false)
  }

  capacity_alarms = merge(
    {
      for pair in setproduct(keys(local.places), local.kinds) : "${lower(pair[0])}-${lower(pair[1])}-consumed" => {
        severity   = "warning"
        runbook    = "capacity"
        says       = "More than ${local.most_per_second[pair[0]][pair[1]]} ${lower(pair[1])} units per second are consumed (${pair[0]})."
        namespace  = "AWS/DynamoDB"
        metric     = "Consumed${pair[1]}CapacityUnits"
        dimensions = local.places[pair[0]]
        statistic  = "Sum"
        threshold  = 60 * local.most_per_second[pair[0]][pair[1]]
      } if !local.provisioned
    },
    {
      for name, ceiling in local.ceilings : name => {
        severity   = "warning"
        runbook    = "capacity"
        says       = "Autoscaling is close to its ceiling of ${ceiling.max} ${lower(ceiling.kind)} units (${ceiling.place})."
        namespace  = "AWS/DynamoDB"
        metric     = "Provisioned${ceiling.kind}CapacityUnits"
        dimensions = local.places[ceiling.place]
        statistic  = "Maximum"
        comparison = "GreaterThanOrEqualToThreshold"
        threshold  = ceiling.threshold
        period     = 300
        periods    = 1
        points     = 1
      }
    },
    {
      for kind in local.kinds : "account-${lower(kind)}-quota" => {
        severity   = "warning"
        runbook    = "capacity"
        says       = "The account has provisioned most of the ${lower(kind)} units that its quota allows."
        namespace  = "AWS/DynamoDB"
        metric     = "AccountProvisioned${kind}CapacityUtilization"
        dimensions = {}
        statistic  = "Maximum"
        threshold  = var.thresholds.quota_percent
        period     = 300
        periods    = 1
        points     = 1
      } if local.provisioned
    },
  )

  # another name than on demand: a switch of the mode makes the one before it deletes the other
  capacity_maths = {
    for pair in setproduct(keys(local.places), local.kinds) : "${lower(pair[0])}-${lower(pair[1])}-utilisation" => {
      severity   = "warning"
      runbook    = "capacity"
      says       = "More than ${var.thresholds.consumed_percent} percent of the provisioned ${lower(pair[1])} units are consumed (${pair[0]}): autoscaling does not keep up."
      expression = "100 * (FILL(consumed, 0) / PERIOD(consumed)) / provisioned"
      metrics = {
        consumed    = { metric = "Consumed${pair[1]}CapacityUnits", dimensions = local.places[pair[0]], statistic = "Sum" }
        provisioned = { metric = "Provisioned${pair[1]}CapacityUnits", dimensions = local.places[pair[0]], statistic = "Average" }
      }
      threshold = var.thresholds.consumed_percent
      # provisioned capacity has a value every five minutes: by the minute four of five would be missing, and no alarm
      period  = 300
      periods = 1
      points  = 1
    } if local.provisioned
  }
}
