variable "name" {
  description = "Name of the cluster. With encrypted connections it appears in public certificate logs: choose a name that reveals nothing."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,19}$", var.name)) && !strcontains(var.name, "--") && !endswith(var.name, "-")
    error_message = "A cluster name has up to 20 lower-case letters, digits or single `-`, starts with a letter and does not end with `-`."
  }
}

variable "accept_no_tenant_isolation" {
  description = "Confirms that you know: DAX does not isolate tenants. Every client of the cluster reads every tenant's rows with the cluster's role, whatever the policies of the table say."
  type        = bool
  default     = false
}

variable "table_arn" {
  description = "Table that the cluster reads."
  type        = string
}

variable "kms_key_arn" {
  description = "Customer managed key of the table; null where it has none."
  type        = string
  default     = null
}

variable "index_names" {
  description = "Indexes that the cluster may query."
  type        = list(string)
  default     = []
}

variable "vpc_id" {
  description = "VPC of the cluster."
  type        = string
}

variable "subnet_ids" {
  description = "Subnets of the cluster."
  type        = list(string)
}

variable "client_security_group_ids" {
  description = "Security groups that may connect; none by default. Add that of the gateway's tasks only together with `gateway_role_arn`."
  type        = map(string)
  default     = {}
}

variable "gateway_role_arn" {
  description = "Role of the gateway, which gets a role to read from the cluster in; null where the gateway does not use it."
  type        = string
  default     = null
}

variable "node_type" {
  description = "Size of a node."
  type        = string
  default     = "dax.t3.small"
}

variable "nodes" {
  description = "Number of nodes; three survive the loss of a zone."
  type        = number
  default     = 3

  validation {
    condition     = var.nodes >= 1 && var.nodes <= 11
    error_message = "A cluster has 1 to 11 nodes."
  }
}

variable "item_ttl_seconds" {
  description = "How long an item is answered from the cache."
  type        = number
  default     = 300
}

variable "query_ttl_seconds" {
  description = "How long the result of a query is answered from the cache."
  type        = number
  default     = 60
}
