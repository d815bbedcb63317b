variable "name" {
  description = "Prefix of the names of the roles."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,31}$", var.name))
    error_message = "A name has 3 to 32 lower-case letters, digits or `-`, and starts with a letter."
  }
}

variable "table_name" {
  description = "Name of the table that the tenants' role reaches."
  type        = string

  validation {
    # the name becomes part of an ARN: a wildcard would widen the policy
    condition     = can(regex("^[A-Za-z0-9_.-]{3,255}$", var.table_name))
    error_message = "A table name has 3 to 255 letters, digits, `_`, `.` or `-`."
  }
}

variable "bucket_name" {
  description = "The bucket of the files, which the policies of a model with files name."
  type        = string
  default     = null
}

variable "policies_dir" {
  description = "Directory with the documents that `gateway policies` wrote; null for those of this repository."
  type        = string
  default     = null

  validation {
    condition     = var.policies_dir == null ? true : alltrue([for name in ["tenant-role", "tenant-trust", "boundary", "gateway-role", "vpc-endpoint"] : fileexists("${var.policies_dir}/${name}.json")])
    error_message = "The directory lacks tenant-role.json, tenant-trust.json, boundary.json, gateway-role.json or vpc-endpoint.json; `gateway policies --directory DIRECTORY` writes all of them."
  }
}

variable "gateway_services" {
  description = "AWS services that may run the gateway in its role. They must send `aws:SourceAccount`, as ECS does and Lambda or EC2 do not; for those, name roles in `gateway_principals`."
  type        = set(string)
  default     = ["ecs-tasks.amazonaws.com"]
}

variable "gateway_principals" {
  description = "ARNs of roles or users that may also assume the gateway's role: your own platform, or a developer of a development account."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.gateway_principals : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/[A-Za-z0-9_+=,.@/-]+$", arn))])
    error_message = "Name roles or users by their ARN; no wildcard, no whole account."
  }
}

variable "further_tenant_role_arns" {
  description = "Roles of tenants with a table of their own (silos) that the gateway may assume too, and whose sessions pass the VPC endpoint."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.further_tenant_role_arns : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$", arn))])
    error_message = "Name roles by their ARN, without wildcards."
  }

  validation {
    condition     = length(var.further_tenant_role_arns) <= 30
    error_message = "A role holds 10,240 characters of policies of its own, which are enough for 30 silos."
  }
}

variable "dax_reader_role_arns" {
  description = "Roles in which the gateway reads from DAX clusters; see the module `dax`."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for arn in var.dax_reader_role_arns : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$", arn))])
    error_message = "Name roles by their ARN, without wildcards."
  }
}

variable "stream_role" {
  description = "Make the role that reads the table's stream."
  type        = bool
  default     = false
}

variable "revoke_sessions" {
  description = "Denies every session that began before a time (RFC 3339): `all_before` for all tenants, `tenants` for single ones. See docs/runbooks/tenant-incident.md."
  type = object({
    all_before = optional(string)
    tenants    = optional(map(string), {})
  })
  default = {}

  validation {
    condition     = alltrue([for moment in concat([var.revoke_sessions.all_before], values(var.revoke_sessions.tenants)) : moment == null ? true : can(timeadd(moment, "0s"))])
    error_message = "Write the time as 2026-01-31T12:00:00Z."
  }

  validation {
    condition     = alltrue([for tenant in keys(var.revoke_sessions.tenants) : can(regex("^[a-z0-9][a-z0-9-]{1,62}$", tenant))])
    error_message = "A tenant id has 2 to 63 characters of a-z, 0-9 and -."
  }
}
