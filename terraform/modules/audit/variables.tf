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

variable "writes_only" {
  description = "Record only writes of the table; reads are most of the events, and of the price."
  type        = bool
  default     = false
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
