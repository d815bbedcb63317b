variable "name" {
  description = "Prefix of the names of what is made; the trail is `<name>-audit`."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,31}$", var.name))
    error_message = "A name has 3 to 32 lower-case letters, digits or `-`, and starts with a letter."
  }
}

variable "table_arn" {
  description = "Table whose reads and writes are recorded."
  type        = string
}

variable "kms_key_arn" {
  description = "Key that encrypts the records."
  type        = string
}

variable "data_events" {
  description = "Which reads and writes of the table are recorded: `all`; `writes`: writes of tenants, and everything by other principals; `others`: only other principals than tenants' sessions; `none`. `gateway capacity` has the price of each."
  type        = string
  default     = "writes"

  validation {
    condition     = contains(["all", "writes", "others", "none"], var.data_events)
    error_message = "Data events are `all`, `writes`, `others` or `none`."
  }
}

variable "tenant_role_arn" {
  description = "The tenants' role, whose sessions make nearly all of the events."
  type        = string
}

variable "retention_days" {
  description = "Days until a record is deleted from the bucket."
  type        = number
  default     = 400

  validation {
    condition     = var.retention_days >= 90
    error_message = "Keep records for at least 90 days."
  }
}

variable "log_retention_days" {
  description = "Days until a record is deleted from the log group that alarms read."
  type        = number
  default     = 30
}

variable "force_destroy" {
  description = "Let `terraform destroy` delete the bucket with the records in it."
  type        = bool
  default     = false
}
