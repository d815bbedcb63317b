variable "name" {
  description = "Prefix of the aliases of the keys."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,31}$", var.name))
    error_message = "A name has 3 to 32 lower-case letters, digits or `-`, and starts with a letter."
  }
}

variable "table_name" {
  description = "Table that the data key encrypts."
  type        = string
}

variable "tenant_role_arns" {
  description = "Roles in which tenants' sessions read and write the table."
  type        = set(string)

  validation {
    condition     = length(var.tenant_role_arns) > 0
    error_message = "Without a tenants' role, the table could not be read."
  }
}

variable "trail_name" {
  description = "CloudTrail trail that writes with the operations key; null if there is none."
  type        = string
  default     = null
}

variable "existing" {
  description = "Keys that are there already, by their ARN, instead of those that are made. Their policies must allow what `data_key_policy` and `operations_key_policy` say."
  type = object({
    data_arn       = optional(string)
    operations_arn = optional(string)
  })
  default = {}

  validation {
    condition     = alltrue([for arn in values(var.existing) : arn == null ? true : can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", arn))])
    error_message = "Name a key by its ARN (arn:aws:kms:REGION:ACCOUNT:key/ID); DynamoDB's policies take no alias."
  }

  validation {
    condition     = alltrue([for arn in values(var.existing) : arn == null ? true : try(split(":", arn)[3] == local.region, true)])
    error_message = "A key encrypts only in its own region, and one of these is not in ${local.region}."
  }
}

variable "rotation_days" {
  description = "Days between two rotations of the key material."
  type        = number
  default     = 365

  validation {
    condition     = var.rotation_days >= 90 && var.rotation_days <= 2560
    error_message = "KMS rotates every 90 to 2560 days."
  }
}

variable "deletion_window_days" {
  description = "Days in which the deletion of a key can still be called off."
  type        = number
  default     = 30

  validation {
    condition     = var.deletion_window_days >= 7 && var.deletion_window_days <= 30
    error_message = "KMS waits 7 to 30 days."
  }
}
