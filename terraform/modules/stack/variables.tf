variable "name" {
  description = "Name of the environment's resources, such as `gateway-dev`; also of the table, unless `table_name` is set."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,23}$", var.name)) && !endswith(var.name, "-")
    error_message = "A name has 3 to 24 lower-case letters, digits or `-`, starts with a letter and does not end with `-`."
  }
}

variable "table_name" {
  description = "Name of the table where it is another one, such as a table that was restored; see docs/runbooks/restore.md."
  type        = string
  default     = null
}

variable "table_file" {
  description = "The table as `gateway terraform-inputs` prints it; null for that of this repository."
  type        = string
  default     = null

  validation {
    condition     = var.table_file == null ? true : fileexists(var.table_file)
    error_message = "There is no such file; `gateway terraform-inputs --path FILE` writes it."
  }
}

variable "policies_dir" {
  description = "Directory with the documents that `gateway policies` wrote; null for those of this repository."
  type        = string
  default     = null
}

variable "capacity" {
  description = "`mode` is `on_demand` or `provisioned`; the rest as in the modules `table` and `observability`. `expected` are units per second that are too many on demand; without it, `alarms.thresholds.expected_percent` of what the model's own traffic takes."
  type        = any
  default     = {}
}

variable "table" {
  description = "How well the table is kept: deletion protection, days of point-in-time recovery, stream, contributor insights."
  type        = any
  default     = {}
}

variable "keys" {
  description = "Rotation and deletion window of the keys, in days. `existing` names keys that are there already, by their ARN; their policies then stay yours, and must allow what the module `kms` puts out."
  type        = any
  default     = {}
}

variable "network" {
  description = "The VPC: made (`create`) or given (`existing`: mind what its endpoints mean for other programs); see the module `network`. `existing.endpoint_ids` names gateway endpoints that it has already: a VPC cannot have two for one service. `flow_log_days` keeps a log of connections of one that is made."
  type        = any
  default     = {}
}

variable "gateway_principals" {
  description = "ARNs of roles or users that may also assume the gateway's role: your own platform, or developers of a development account."
  type        = set(string)
  default     = []
}

variable "further_tenant_role_arns" {
  description = "Roles of tenants with a table of their own that the gateway may assume too; name them in `gateway_settings.silos`."
  type        = set(string)
  default     = []
}

variable "deployment_role_arns" {
  description = "Roles that run `terraform apply`: their changes to the roles of the gateway and the tenants notify but do not page. Changes by others page."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.deployment_role_arns : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$", arn))])
    error_message = "Name roles by their ARN, without wildcards; not the session's ARN, which has `assumed-role` in it."
  }
}

variable "revoke_sessions" {
  description = "Denies sessions that began before a time, for all tenants or for single ones; see docs/runbooks/tenant-incident.md."
  type        = any
  default     = {}
}

variable "issuers" {
  description = "Token issuers that the gateway trusts; see docs/settings.md."
  type        = any
}

variable "gateway_settings" {
  description = "Settings of the gateway by their own names; what is left out is as in docs/settings.md. Secrets never stand here."
  type        = any
  default     = {}
}

variable "gateway" {
  description = "The gateway on ECS: `run` says whether it runs, `image` which version; without `run` there is its repository alone, with null not even that. See the module `gateway-ecs`."
  type        = any
  default     = {}
}

variable "alarms" {
  description = "Who is notified, and the thresholds; see the module `observability`."
  type        = any
  default     = {}
}

variable "files" {
  description = "The bucket of files, where the policies are those of a model that declares some: `cors_origins` of front ends that up- and download (those of the gateway by default), `recovery_days`, `operator_role_arns` that may read objects, `further_tenant_role_arns` of silos that use it too, `force_destroy`; see the module `files`."
  type        = any
  default     = {}
}

variable "audit" {
  description = "A CloudTrail trail of changes of the account and of the table; `data_events` says which reads and writes: `all`, `writes`, `others` or `none`. Null for no trail. See the module `audit`."
  type        = any
  default     = {}
}

variable "dax" {
  description = "A DAX cluster for programs that may read all tenants, and for the gateway where `gateway_settings.cache` says so; null for none. It does not keep tenants apart: see the module `dax`."
  type        = any
  default     = null
}

variable "bus" {
  description = "NATS servers that carry change notes: the gateway then learns of changes from them, and tasks of `gateway stream` in a role of their own fill them. `servers` (tls://), `web` and `reader` (user and `password_secret_arn` each), `security_group_id` of the servers, `ca`, `tasks`; null for none. See docs/streams.md."
  type        = any
  default     = null
}

variable "budget" {
  description = "Tell when the account's costs of a month reach 80 percent of this, or are forecast to reach all of it; null for no budget."
  type        = any
  default     = null
}

variable "backup" {
  description = "Copies of the table beyond what point-in-time recovery reaches: when (cron in UTC), how long, and a vault in another region or account to copy to; null for none."
  type        = any
  default     = null
}
