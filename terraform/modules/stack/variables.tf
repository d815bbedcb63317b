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
}

variable "policies_dir" {
  description = "Directory with the documents that `gateway policies` wrote; null for those of this repository."
  type        = string
  default     = null
}

variable "capacity" {
  description = "`mode` is `on_demand` or `provisioned`; the rest as in the modules `table` and `observability`."
  type = object({
    mode      = optional(string, "on_demand")
    on_demand = optional(object({ read = optional(number), write = optional(number) }), {})
    expected  = optional(object({ read = optional(number, 3000), write = optional(number, 1000) }), {})
    provisioned = optional(object({
      read           = optional(object({ min = number, max = number }), { min = 5, max = 100 })
      write          = optional(object({ min = number, max = number }), { min = 5, max = 100 })
      target_percent = optional(number, 70)
      indexes = optional(map(object({
        read  = optional(object({ min = number, max = number }))
        write = optional(object({ min = number, max = number }))
      })), {})
    }), {})
  })
  default = {}
}

variable "table" {
  description = "How well the table is kept: deletion protection, days of point-in-time recovery, stream, contributor insights."
  type = object({
    deletion_protection  = optional(bool, true)
    recovery_days        = optional(number, 35)
    stream_view_type     = optional(string, "NEW_AND_OLD_IMAGES")
    contributor_insights = optional(bool, false)
  })
  default = {}
}

variable "keys" {
  description = "Rotation and deletion window of the keys, in days."
  type = object({
    rotation_days        = optional(number, 365)
    deletion_window_days = optional(number, 30)
  })
  default = {}
}

variable "network" {
  description = "The VPC: made (`create`) or given (`existing`: mind what its endpoints mean for other programs); see the module `network`. `flow_log_days` keeps a log of connections of one that is made."
  type = object({
    create = optional(object({
      cidr   = optional(string, "10.64.0.0/20")
      zones  = optional(number, 2)
      public = optional(bool, false)
      nat    = optional(string, "none")
    }), {})
    existing = optional(object({
      vpc_id             = string
      cidr               = string
      private_subnet_ids = list(string)
      public_subnet_ids  = optional(list(string), [])
      route_table_ids    = list(string)
      internet           = optional(bool, true)
    }))
    interface_endpoints = optional(set(string), ["sts", "logs", "ecr.api", "ecr.dkr", "secretsmanager"])
    flow_log_days       = optional(number)
  })
  default = {}
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

variable "revoke_sessions" {
  description = "Denies sessions that began before a moment, for all tenants or for single ones; see docs/runbooks/tenant-incident.md."
  type = object({
    all_before = optional(string)
    tenants    = optional(map(string), {})
  })
  default = {}
}

variable "issuers" {
  description = "Token issuers that the gateway trusts; see docs/settings.md."
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

  validation {
    condition     = length(var.issuers) > 0 && length(distinct(var.issuers[*].issuer)) == length(var.issuers)
    error_message = "Name at least one issuer, and each once."
  }
}

variable "gateway_settings" {
  description = "Settings of the gateway by their own names; what is left out is as in docs/settings.md. Secrets never stand here."
  type = object({
    session_seconds     = optional(number)
    max_sessions        = optional(number)
    session_per_subject = optional(bool)
    tenants             = optional(list(string))
    suspended_tenants   = optional(list(string))
    readiness_tenant    = optional(string)
    silos = optional(map(object({
      table_name      = optional(string)
      tenant_role_arn = optional(string)
      region          = optional(string)
      external_id     = optional(string)
      dax_endpoint    = optional(string)
      dax_role_arn    = optional(string)
    })))
    domains            = optional(list(string))
    log_level          = optional(string)
    introspection      = optional(bool)
    playground         = optional(bool)
    explain            = optional(bool)
    cors_origins       = optional(list(string))
    max_body_bytes     = optional(number)
    packed_from_bytes  = optional(number)
    request_seconds    = optional(number, 10)
    drain_seconds      = optional(number, 15)
    max_connections    = optional(number)
    max_running        = optional(number)
    max_waiting        = optional(number)
    metrics_port       = optional(number)
    metrics_host       = optional(string)
    workers            = optional(number)
    max_page           = optional(number)
    max_depth          = optional(number)
    max_aliases        = optional(number)
    max_root_fields    = optional(number)
    max_directives     = optional(number)
    max_document_chars = optional(number)
    max_tokens         = optional(number)
    max_token_bytes    = optional(number)
    max_list           = optional(number)
    max_nested_queries = optional(number)
    max_cost           = optional(number)
    max_cost_by_role   = optional(map(number))
    cache              = optional(string)
    cache_bytes        = optional(number)
    dax_call_seconds   = optional(number)
    dax_threads        = optional(number)
    trusted_documents  = optional(string)
    only_trusted       = optional(bool)
  })
  default = {}

  validation {
    condition     = contains(["off", "ttl", "dax", "ttl+dax"], coalesce(var.gateway_settings.cache, "off"))
    error_message = "The cache is `off`, `ttl`, `dax` or `ttl+dax`."
  }

  validation {
    condition     = !strcontains(coalesce(var.gateway_settings.cache, "off"), "dax") || var.dax != null || anytrue([for silo in values(coalesce(var.gateway_settings.silos, {})) : silo.dax_endpoint != null])
    error_message = "A cache in DAX needs a cluster: set `dax`, or `dax_endpoint` of a silo."
  }
}

variable "gateway" {
  description = "Run the gateway on ECS: null for not at all, without an `image` for its repository alone. See the module `gateway-ecs`."
  type = object({
    image                 = optional(string)
    certificate_arn       = optional(string)
    internal              = optional(bool, true)
    client_cidrs          = optional(set(string))
    web_acl_arn           = optional(string)
    access_logs_bucket    = optional(string)
    deletion_protection   = optional(bool, true)
    cursor_secret_version = optional(number, 1)
    size = optional(object({
      cpu          = optional(number, 512)
      memory       = optional(number, 1024)
      architecture = optional(string, "X86_64")
    }), {})
    tasks = optional(object({
      min         = optional(number, 2)
      max         = optional(number, 10)
      cpu_percent = optional(number, 60)
    }), {})
  })
  default = {}
}

variable "alarms" {
  description = "Who is told, and the thresholds; see the module `observability`."
  type = object({
    page_emails        = optional(set(string), [])
    notice_emails      = optional(set(string), [])
    actions_enabled    = optional(bool, true)
    log_retention_days = optional(number, 365)
    user_errors        = optional(bool, false)
    runbooks           = optional(string, "docs/runbooks")
    latency_ms         = optional(map(object({ p99 = number, average = number })))
    thresholds = optional(object({
      throttled_requests = optional(number, 0)
      system_errors      = optional(number, 0)
      denials            = optional(number, 25)
      refused_tokens     = optional(number, 200)
      failed_sessions    = optional(number, 5)
      gateway_p99_ms     = optional(number, 1000)
      consumed_percent   = optional(number, 85)
      ceiling_percent    = optional(number, 90)
      quota_percent      = optional(number, 80)
    }), {})
  })
  default = {}
}

variable "audit" {
  description = "A CloudTrail trail of changes of the account and of the table; `data_events` says which reads and writes: `all`, `writes`, `others` or `none`. Null for no trail. See the module `audit`."
  type = object({
    data_events    = optional(string, "writes")
    retention_days = optional(number, 400)
    force_destroy  = optional(bool, false)
  })
  default = {}
}

variable "dax" {
  description = "A DAX cluster for programs that may read all tenants, and for the gateway where `gateway_settings.cache` says so; null for none. It does not keep tenants apart: see the module `dax`."
  type = object({
    accept_no_tenant_isolation = optional(bool, false)
    node_type                  = optional(string, "dax.t3.small")
    nodes                      = optional(number, 3)
    item_ttl_seconds           = optional(number, 300)
    query_ttl_seconds          = optional(number, 60)
    client_security_group_ids  = optional(map(string), {})
  })
  default = null
}

variable "budget" {
  description = "Tell when the account's costs of a month reach 80 percent of this, or are forecast to reach all of it; null for no budget."
  type        = object({ monthly_usd = number })
  default     = null
}

variable "backup" {
  description = "Copies of the table beyond what point-in-time recovery reaches: when (cron in UTC), how long, and a vault in another region or account to copy to; null for none."
  type = object({
    schedule         = optional(string, "cron(0 3 * * ? *)")
    keep_days        = optional(number, 90)
    copy_to_vault    = optional(string)
    copied_keep_days = optional(number, 90)
  })
  default = null
}
