variable "name" {
  description = "Prefix of the names of alarms, topics, log group and dashboard."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,31}$", var.name))
    error_message = "A name has 3 to 32 lower-case letters, digits or `-`, and starts with a letter."
  }
}

variable "table_name" {
  description = "Table to watch."
  type        = string
}

variable "index_names" {
  description = "Its indexes."
  type        = list(string)
}

variable "capacity_mode" {
  description = "`on_demand` or `provisioned`: decides which alarms on capacity there are."
  type        = string
  default     = "on_demand"

  validation {
    condition     = contains(["on_demand", "provisioned"], var.capacity_mode)
    error_message = "The capacity mode is `on_demand` or `provisioned`."
  }
}

variable "bounds" {
  description = "Autoscaling bounds of the table and of each index in provisioned mode; output of the module `table`."
  type        = map(map(object({ min = number, max = number })))
  default     = {}
}

variable "on_demand_limits" {
  description = "Limits of the table in on-demand mode; the alarm on consumed capacity then stands at 80 percent of them."
  type = object({
    read  = optional(number)
    write = optional(number)
  })
  default = {}
}

variable "consumed_per_second" {
  description = "Request units per second, for `table` and for each index by its name, above which consumption is unexpected in on-demand mode without a limit."
  type        = map(object({ read = number, write = number }))

  validation {
    condition     = toset(keys(var.consumed_per_second)) == toset(concat(["table"], var.index_names))
    error_message = "Name `table` and each index."
  }
}

variable "latency_ms" {
  description = "DynamoDB operations to watch, with the server-side latency in milliseconds that is too much: 99th percentile and average. A metric-math alarm takes ten metrics, so ten operations at most."
  type        = map(object({ p99 = number, average = number }))
  nullable    = false
  default = {
    GetItem            = { p99 = 20, average = 10 }
    BatchGetItem       = { p99 = 100, average = 20 }
    Query              = { p99 = 50, average = 10 }
    PutItem            = { p99 = 20, average = 10 }
    UpdateItem         = { p99 = 20, average = 10 }
    DeleteItem         = { p99 = 20, average = 10 }
    BatchWriteItem     = { p99 = 100, average = 20 }
    TransactWriteItems = { p99 = 100, average = 30 }
  }

  validation {
    condition     = length(var.latency_ms) >= 1 && length(var.latency_ms) <= 10
    error_message = "Watch one to ten operations: CloudWatch refuses a metric-math alarm of more than ten metrics."
  }

  validation {
    condition = length(setsubtract(keys(var.latency_ms), [
      "BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "TransactGetItems",
      "TransactWriteItems", "UpdateItem",
    ])) == 0
    error_message = "CloudWatch accepts an alarm on an operation that does not exist, and it never fires: name operations of DynamoDB."
  }
}

variable "thresholds" {
  description = "The other thresholds: throttled requests, system errors and failed operations in a minute; denials, refused tokens and refused sessions in five minutes; gateway p99 in milliseconds; percent of capacity and quota."
  type = object({
    throttled_requests = optional(number, 0)
    system_errors      = optional(number, 0)
    denials            = optional(number, 25)
    refused_tokens     = optional(number, 200)
    failed_sessions    = optional(number, 5)
    failed_operations  = optional(number, 5)
    gateway_p99_ms     = optional(number, 1000)
    stream_lag_seconds = optional(number, 60)
    consumed_percent   = optional(number, 85)
    ceiling_percent    = optional(number, 90)
    quota_percent      = optional(number, 80)
  })
  default = {}
}

variable "user_errors" {
  description = "Also watch UserErrors. The metric counts all callers of the account."
  type        = bool
  default     = false
}

variable "tenant_role" {
  description = "The tenants' role and its boundary, whose denials and changes CloudTrail reports."
  type        = object({ name = string, arn = string, boundary_arn = string })
}

variable "gateway_role_name" {
  description = "The gateway's role, whose changes CloudTrail reports."
  type        = string
}

variable "stream_role_name" {
  description = "The role that reads the table's stream; CloudTrail reports changes of it. Null if the stream is not read. Enables the alarms on the stream."
  type        = string
  default     = null
}

variable "trail_log_group_name" {
  description = "Log group of the audit trail; null if there is none."
  type        = string
  default     = null
}

variable "deployment_role_arns" {
  description = "Roles that run `terraform apply`: their changes to the roles notify but do not page."
  type        = set(string)
  default     = []

  validation {
    condition     = length(var.deployment_role_arns) <= 3
    error_message = "A filter on log lines has 1024 characters, enough for three roles."
  }
}

variable "backups" {
  description = "Whether AWS Backup copies the table, so that failed backups notify."
  type        = bool
  default     = false
}

variable "data_key" {
  description = "The key that encrypts the table: changes of it page."
  type        = object({ id = string, arn = string })
}

variable "kms_key_arn" {
  description = "Key that encrypts notifications and logs. Its policy must let CloudWatch and EventBridge use it."
  type        = string
}

variable "gateway" {
  description = "The gateway's service and load balancer, as the module `gateway-ecs` puts out; null where it runs elsewhere."
  type = object({
    cluster       = string
    service       = string
    load_balancer = string
    target_group  = string
  })
  default = null
}

variable "dax_cluster" {
  description = "DAX cluster to watch."
  type        = string
  default     = null
}

variable "page_emails" {
  description = "Addresses that are paged when the data plane is in trouble. Each address gets a message to confirm."
  type        = set(string)
  default     = []
}

variable "notice_emails" {
  description = "Addresses that are notified of every single alarm."
  type        = set(string)
  default     = []
}

variable "actions_enabled" {
  description = "Whether alarms notify; turn it off for an environment that is not watched."
  type        = bool
  default     = true
}

variable "log_retention_days" {
  description = "Days that the gateway's log lines are kept."
  type        = number
  default     = 365

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], var.log_retention_days)
    error_message = "CloudWatch Logs keeps lines for 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731 ... days."
  }
}

variable "runbooks" {
  description = "Where the runbooks are; alarms name the page below it."
  type        = string
  default     = "docs/runbooks"
}
