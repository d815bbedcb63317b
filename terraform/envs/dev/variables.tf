variable "region" {
  description = "Region of everything."
  type        = string
}

variable "account_id" {
  description = "Account that this environment lives in; a run with credentials of another one is refused. Null to leave it open."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of all resources; they add to or override those of this environment."
  type        = map(string)
  default     = {}
}

variable "runbooks" {
  description = "Where on-call staff finds the runbooks: an address of your copy of docs/runbooks, such as https://git.example.com/gateway/docs/runbooks."
  type        = string
  default     = "docs/runbooks"
}

variable "issuers" {
  description = "Token issuers that the gateway trusts: `issuer`, `audience`, `jwks_url`, and what of docs/settings.md differs."
  type        = any
}

variable "run_gateway" {
  description = "Whether ECS runs the gateway; without it there are the data plane and the image repository alone. Keep it in gateway.auto.tfvars: an apply that does not find it there removes the service."
  type        = bool
  default     = false
}

variable "gateway_image" {
  description = "Version of the gateway that runs, by tag or digest. Keep it in gateway.auto.tfvars beside `run_gateway`, where every apply finds it: an apply with `run_gateway` and without an image is refused."
  type        = string
  default     = null
}

variable "capacity_mode" {
  description = "`on_demand` or `provisioned`."
  type        = string
  default     = "on_demand"
}

variable "provisioned" {
  description = "Bounds of autoscaling in provisioned mode: `capacity.provisioned` of the module `stack`."
  type        = any
  default     = { read = { min = 5, max = 40 }, write = { min = 5, max = 40 } }
}

variable "dax" {
  description = "A DAX cluster for programs that may read all tenants, and for the gateway where `cache` says so. It does not keep tenants apart, and `accept_no_tenant_isolation` says that you know."
  type        = any
  default     = null
}

variable "bus" {
  description = "NATS servers over which all tasks learn of changes, filled by tasks of `gateway stream`; see `bus` of the module `stack` and docs/streams.md."
  type        = any
  default     = null
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
  description = "Addresses that are paged when the data plane is in trouble."
  type        = set(string)
  default     = []
}

variable "notice_emails" {
  description = "Addresses that are notified of every single alarm."
  type        = set(string)
  default     = []
}

variable "suspended_tenants" {
  description = "Tenants whose requests are refused immediately."
  type        = list(string)
  default     = []
}

variable "revoke_sessions" {
  description = "Denies sessions that began before a time; see docs/runbooks/tenant-incident.md."
  type        = any
  default     = {}
}

variable "developers" {
  description = "ARNs of roles or users that may assume the gateway's role, to run the gateway on their own machine."
  type        = set(string)
  default     = []
}
