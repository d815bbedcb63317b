variable "name" {
  description = "Name of the table."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_.-]{3,255}$", var.name))
    error_message = "A table name has 3 to 255 letters, digits, `_`, `.` or `-`."
  }
}

variable "definition" {
  description = "Keys, indexes, projections and TTL as `gateway terraform-inputs` prints them from the model (`terraform/table.json`)."
  type = object({
    hash_key      = string
    range_key     = string
    ttl_attribute = string
    attributes    = list(object({ name = string, type = string }))
    indexes = list(object({
      name               = string
      hash_key           = string
      range_key          = string
      projection_type    = string
      non_key_attributes = list(string)
    }))
    local_indexes = optional(list(object({
      name               = string
      range_key          = string
      projection_type    = string
      non_key_attributes = list(string)
    })), [])
  })

  validation {
    condition = toset(var.definition.attributes[*].name) == toset(concat(
      [var.definition.hash_key, var.definition.range_key],
      var.definition.indexes[*].hash_key,
      var.definition.indexes[*].range_key,
      var.definition.local_indexes[*].range_key,
    ))
    error_message = "The attributes must be the keys of the table and of its indexes, all of them and no others."
  }

  validation {
    condition = (
      length(distinct(concat(var.definition.indexes[*].name, var.definition.local_indexes[*].name))) == length(concat(var.definition.indexes, var.definition.local_indexes))
      && length(var.definition.indexes) <= 20 && length(var.definition.local_indexes) <= 5
    )
    error_message = "Indexes need distinct names, and there can be 20 global and 5 local ones."
  }

  validation {
    condition     = alltrue([for index in concat(var.definition.indexes[*].projection_type, var.definition.local_indexes[*].projection_type) : contains(["ALL", "KEYS_ONLY", "INCLUDE"], index)])
    error_message = "A projection is ALL, KEYS_ONLY or INCLUDE."
  }
}

variable "kms_key_arn" {
  description = "Customer managed key that encrypts the table; without it, DynamoDB's AWS managed key does."
  type        = string
  default     = null
}

variable "capacity_mode" {
  description = "`on_demand`, or `provisioned` with autoscaling of the table and of every index."
  type        = string
  default     = "on_demand"

  validation {
    condition     = contains(["on_demand", "provisioned"], var.capacity_mode)
    error_message = "The capacity mode is `on_demand` or `provisioned`."
  }
}

variable "on_demand_limits" {
  description = "Most request units per second that the table, and each index, may consume in on-demand mode; without a limit the account's quota holds."
  type = object({
    read  = optional(number)
    write = optional(number)
  })
  default = {}

  validation {
    condition     = alltrue([for limit in values(var.on_demand_limits) : limit == null ? true : limit >= 1])
    error_message = "A limit is at least 1 request unit per second."
  }
}

variable "provisioned" {
  description = "Bounds of autoscaling in provisioned mode; `indexes` overrides them for an index by its name. Capacity starts at `min`, or at what the table has already."
  type = object({
    read           = optional(object({ min = number, max = number }), { min = 5, max = 100 })
    write          = optional(object({ min = number, max = number }), { min = 5, max = 100 })
    target_percent = optional(number, 70)
    indexes = optional(map(object({
      read  = optional(object({ min = number, max = number }))
      write = optional(object({ min = number, max = number }))
    })), {})
  })
  default = {}

  validation {
    condition = alltrue([
      for bounds in concat(
        [var.provisioned.read, var.provisioned.write],
        flatten([for index in values(var.provisioned.indexes) : [for each in [index.read, index.write] : each if each != null]]),
      ) : bounds.min >= 1 && bounds.max >= bounds.min
    ])
    error_message = "Each `min` is at least 1 and no larger than its `max`."
  }

  validation {
    condition     = var.provisioned.target_percent >= 20 && var.provisioned.target_percent <= 90
    error_message = "DynamoDB takes targets from 20 to 90 percent."
  }

  validation {
    condition     = length(setsubtract(keys(var.provisioned.indexes), var.definition.indexes[*].name)) == 0
    error_message = "`provisioned.indexes` names an index that the model does not have."
  }
}

variable "recovery_days" {
  description = "How many days back point-in-time recovery reaches."
  type        = number
  default     = 35

  validation {
    condition     = var.recovery_days >= 1 && var.recovery_days <= 35
    error_message = "Point-in-time recovery reaches back 1 to 35 days."
  }
}

variable "deletion_protection" {
  description = "Refuse to delete the table until this is switched off."
  type        = bool
  default     = true
}

variable "stream_view_type" {
  description = "What the stream carries; null switches the stream off."
  type        = string
  default     = "NEW_AND_OLD_IMAGES"

  validation {
    condition     = var.stream_view_type == null ? true : contains(["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"], var.stream_view_type)
    error_message = "A stream carries NEW_AND_OLD_IMAGES, NEW_IMAGE, OLD_IMAGE or KEYS_ONLY."
  }
}

variable "contributor_insights" {
  description = "Show the most used keys of the table and of each index in CloudWatch; costs by the number of events."
  type        = bool
  default     = false
}
