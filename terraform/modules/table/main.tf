# The table. Capacity that autoscaling has changed is read back at plan time and kept, instead of being ignored:
# `ignore_changes` cannot reach into the set of indexes, and it turns a switch to provisioned mode into 1 unit.
# So no `depends_on` on this module: it would put off the reading of the live capacity until the apply.

locals {
  provisioned = var.capacity_mode == "provisioned"
  indexes     = { for index in var.definition.indexes : index.name => index }

  # bounds of the table and of each index: {table = {read = {min, max}, write = ...}, GSI1 = ...}
  bounds = merge(
    { table = { read = var.provisioned.read, write = var.provisioned.write } },
    {
      for name in keys(local.indexes) : name => {
        read  = try(coalesce(var.provisioned.indexes[name].read), var.provisioned.read)
        write = try(coalesce(var.provisioned.indexes[name].write), var.provisioned.write)
      }
    },
  )

  exists = contains(coalesce(one(data.aws_dynamodb_tables.here[*].names), []), var.name)
  live = merge(
    { for table in data.aws_dynamodb_table.live : "table" => { read = table.read_capacity, write = table.write_capacity } },
    {
      for index in flatten([for table in data.aws_dynamodb_table.live : tolist(table.global_secondary_index)]) :
      index.name => { read = index.read_capacity, write = index.write_capacity }
    },
  )

  capacity = {
    for name, of in local.bounds : name => {
      for kind, bound in of : kind => min(bound.max, max(bound.min, try(coalesce(local.live[name][kind], 0), 0)))
    }
  }
}

data "aws_dynamodb_tables" "here" {
  count = local.provisioned ? 1 : 0
}

data "aws_dynamodb_table" "live" {
  count = local.provisioned && local.exists ? 1 : 0

  name = var.name
}

resource "aws_dynamodb_table" "this" {
  name         = var.name
  billing_mode = local.provisioned ? "PROVISIONED" : "PAY_PER_REQUEST"

  hash_key       = var.definition.hash_key
  range_key      = var.definition.range_key
  read_capacity  = local.provisioned ? local.capacity.table.read : null
  write_capacity = local.provisioned ? local.capacity.table.write : null

  deletion_protection_enabled = var.deletion_protection
  stream_enabled              = var.stream_view_type != null
  stream_view_type            = var.stream_view_type

  dynamic "attribute" {
    for_each = var.definition.attributes

    content {
      name = attribute.value.name
      type = attribute.value.type
    }
  }

  dynamic "global_secondary_index" {
    for_each = local.indexes

    content {
      name               = global_secondary_index.key
      hash_key           = global_secondary_index.value.hash_key
      range_key          = global_secondary_index.value.range_key
      projection_type    = global_secondary_index.value.projection_type
      non_key_attributes = length(global_secondary_index.value.non_key_attributes) > 0 ? global_secondary_index.value.non_key_attributes : null
      read_capacity      = local.provisioned ? local.capacity[global_secondary_index.key].read : null
      write_capacity     = local.provisioned ? local.capacity[global_secondary_index.key].write : null

      dynamic "on_demand_throughput" {
        for_each = local.limits

        content {
          max_read_request_units  = on_demand_throughput.value.read
          max_write_request_units = on_demand_throughput.value.write
        }
      }
    }
  }

  # made with the table or not at all: a change here replaces the table, which deletion protection refuses
  dynamic "local_secondary_index" {
    for_each = { for index in var.definition.local_indexes : index.name => index }

    content {
      name               = local_secondary_index.key
      range_key          = local_secondary_index.value.range_key
      projection_type    = local_secondary_index.value.projection_type
      non_key_attributes = length(local_secondary_index.value.non_key_attributes) > 0 ? local_secondary_index.value.non_key_attributes : null
    }
  }

  dynamic "on_demand_throughput" {
    for_each = local.limits

    content {
      max_read_request_units  = on_demand_throughput.value.read
      max_write_request_units = on_demand_throughput.value.write
    }
  }

  ttl {
    attribute_name = var.definition.ttl_attribute
    enabled        = true
  }

  point_in_time_recovery {
    enabled                 = true
    recovery_period_in_days = var.recovery_days
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = var.kms_key_arn
  }
}

locals {
  limited = !local.provisioned && (var.on_demand_limits.read != null || var.on_demand_limits.write != null)
  limits  = [for limits in [var.on_demand_limits] : limits if local.limited]
}

resource "aws_dynamodb_contributor_insights" "this" {
  for_each = toset([for name in concat(["table"], keys(local.indexes)) : name if var.contributor_insights])

  table_name = aws_dynamodb_table.this.name
  index_name = each.key == "table" ? null : each.key
}
