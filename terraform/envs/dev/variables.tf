variable "region" {
  description = "Region of everything."
  type        = string
}

variable "account_id" {
  description = "Account that this environment lives in; a run with credentials of another one is refused. Null to leave it open."
  type        = string
  default     = null
}

variable "issuers" {
  description = "Token issuers that the gateway trusts: `issuer`, `audience`, `jwks_url`, and what of docs/settings.md differs."
  type = list(object({
    issuer             = string
    audience           = list(string)
    jwks_url           = string
    algorithms         = optional(list(string))
    types              = optional(list(string))
    audience_claim     = optional(string)
    companion_audience = optional(list(string))
    subject_claim      = optional(string)
    tenants            = optional(list(string))
    tenant_claim       = optional(string)
    roles_claim        = optional(string)
    role_map           = optional(map(string))
    required_claims    = optional(map(string))
    leeway_seconds     = optional(number)
    max_life_seconds   = optional(number)
  }))
}

variable "gateway_image" {
  description = "Image of the gateway; null for the data plane and the image repository alone."
  type        = string
  default     = null
}

variable "capacity_mode" {
  description = "`on_demand` or `provisioned`."
  type        = string
  default     = "on_demand"
}

variable "provisioned" {
  description = "Bounds of autoscaling in provisioned mode."
  type = object({
    read  = object({ min = number, max = number })
    write = object({ min = number, max = number })
  })
  default = { read = { min = 5, max = 40 }, write = { min = 5, max = 40 } }
}

variable "dax" {
  description = "A DAX cluster for programs that may read all tenants, and for the gateway where `cache` says so. It does not keep tenants apart, and `accept_no_tenant_isolation` says that you know."
  type = object({
    accept_no_tenant_isolation = optional(bool, false)
    client_security_group_ids  = optional(map(string), {})
  })
  default = null
}

variable "cache" {
  description = "Where the gateway remembers reads: `off`, `ttl`, `dax` or `ttl+dax`, the latter two with `dax`; see docs/cache.md."
  type        = string
  default     = null
}

variable "table_name" {
  description = "Name of the table where it is another one than the environment's, such as a table that was restored."
  type        = string
  default     = null
}

variable "page_emails" {
  description = "Who is told when the data plane is in trouble."
  type        = set(string)
  default     = []
}

variable "notice_emails" {
  description = "Who is told about every single alarm."
  type        = set(string)
  default     = []
}

variable "suspended_tenants" {
  description = "Tenants that are refused at once."
  type        = list(string)
  default     = []
}

variable "revoke_sessions" {
  description = "Denies sessions that began before a moment; see docs/runbooks/tenant-incident.md."
  type = object({
    all_before = optional(string)
    tenants    = optional(map(string), {})
  })
  default = {}
}

variable "developers" {
  description = "ARNs of roles or users that may assume the gateway's role, to run the gateway on their own machine."
  type        = set(string)
  default     = []
}
