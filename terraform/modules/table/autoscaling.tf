# Provisioned mode: reads and writes of the table and of every index follow their use.

locals {
  scaled = {
    for each in flatten([
      for name, of in local.bounds : [
        for kind, bound in of : {
          key         = "${name}-${kind}"
          resource_id = name == "table" ? "table/${aws_dynamodb_table.this.name}" : "table/${aws_dynamodb_table.this.name}/index/${name}"
          dimension   = "dynamodb:${name == "table" ? "table" : "index"}:${title(kind)}CapacityUnits"
          metric      = "DynamoDB${title(kind)}CapacityUtilization"
          min         = bound.min
          max         = bound.max
        }
      ]
    ]) : each.key => each if local.provisioned
  }
}

resource "aws_appautoscaling_target" "this" {
  for_each = local.scaled

  service_namespace  = "dynamodb"
  resource_id        = each.value.resource_id
  scalable_dimension = each.value.dimension
  min_capacity       = each.value.min
  max_capacity       = each.value.max
}

resource "aws_appautoscaling_policy" "this" {
  for_each = local.scaled

  name               = "${each.value.metric}:${each.value.resource_id}"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this[each.key].service_namespace
  resource_id        = aws_appautoscaling_target.this[each.key].resource_id
  scalable_dimension = aws_appautoscaling_target.this[each.key].scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value       = var.provisioned.target_percent
    scale_in_cooldown  = 60
    scale_out_cooldown = 60

    predefined_metric_specification {
      predefined_metric_type = each.value.metric
    }
  }
}
