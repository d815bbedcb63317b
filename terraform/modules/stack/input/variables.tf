# The inputs of the stack with their types. They live here, because a type drops the members that it does not know
# without a word: the stack takes what was written as it is, and main.tf compares the two. Descriptions are the stack's.

variable "written" {
  type = any
}

variable "capacity" {
  type = object({
    mode      = optional(string, "on_demand")
    on_demand = optional(object({ read = optional(number), write = optional(number) }), {})
    expected  = optional(object({ read = optional(number), write = optional(number) }), {})
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
}

variable "table" {
  type = object({
    deletion_protection  = optional(bool, true)
    recovery_days        = optional(number, 35)
    stream_view_type     = optional(string, "NEW_AND_OLD_IMAGES")
    contributor_insights = optional(bool, false)
  })
}

variable "keys" {
  type = object({
    rotation_days        = optional(number, 365)
    deletion_window_days = optional(number, 30)
    existing             = optional(object({ data_arn = optional(string), operations_arn = optional(string) }), {})
  })
}

variable "network" {
  type = object({
    create = optional(object({
      cidr   = optional(string, "10.64.0.0/20")
      zones  = optional(number, 2)
      public = optional(bool, false)
      nat    = optional(string, "none")
    }))
    existing = optional(object({
      vpc_id             = string
      cidr               = string
      private_subnet_ids = list(string)
      public_subnet_ids  = optional(list(string), [])
      route_table_ids    = list(string)
      internet           = optional(bool, true)
      endpoint_ids       = optional(object({ dynamodb = optional(string), s3 = optional(string) }), {})
    }))
    interface_endpoints = optional(set(string), ["sts", "logs", "ecr.api", "ecr.dkr", "secretsmanager"])
    flow_log_days       = optional(number)
  })
}

variable "revoke_sessions" {
  type = object({
    all_before = optional(string)
    tenants    = optional(map(string), {})
  })
}

variable "issuers" {
  type = list(object({
    issuer               = string
    preset               = optional(string)
    audience             = list(string)
    jwks_url             = string
    algorithms           = optional(list(string))
    types                = optional(list(string))
    audience_claim       = optional(string)
    additional_audiences = optional(list(string))
    subject_claim        = optional(string)
    tenants              = optional(list(string))
    tenant_claim         = optional(string)
    tenant_map           = optional(map(string))
    tenant_is_membership = optional(bool)
    roles_claim          = optional(string)
    role_map             = optional(map(string))
    required_claims      = optional(map(string))
    client_claims        = optional(list(string))
    machine_claims       = optional(map(string))
    user_claims          = optional(list(string))
    client_roles_claim   = optional(string)
    client_roles         = optional(map(object({ roles = optional(list(string), []), tenant = optional(string) })))
    support = optional(object({
      role         = optional(string, "support")
      max_minutes  = optional(number, 30)
      actor_claim  = optional(list(string), ["act", "sub"])
      reason_claim = optional(string, "reason")
      only         = optional(bool, true)
    }))
    leeway_seconds       = optional(number)
    max_lifetime_seconds = optional(number)
  }))

  validation {
    condition     = length(var.issuers) > 0 && length(distinct(var.issuers[*].issuer)) == length(var.issuers)
    error_message = "Name at least one issuer, and each once."
  }

  # a key that comes in the clear can be replaced on its way; on this machine alone it has none
  validation {
    condition     = alltrue([for address in concat(var.issuers[*].issuer, var.issuers[*].jwks_url) : can(regex(local.safe_address, address))])
    error_message = "Each `issuer` and `jwks_url` is an address with https://; http:// is taken for 127.0.0.1 and localhost alone. Not: ${join(", ", [for address in concat(var.issuers[*].issuer, var.issuers[*].jwks_url) : address if !can(regex(local.safe_address, address))])}."
  }

  validation {
    condition     = alltrue([for issuer in var.issuers : length(issuer.audience) > 0 && alltrue([for name in issuer.audience : trimspace(name) != ""])])
    error_message = "Each issuer needs an `audience` that is not empty: without one, tokens for other programs would be taken."
  }
}

variable "further_tenant_role_arns" {
  type = set(string)
}

variable "gateway_settings" {
  type = object({
    file_url_seconds         = optional(number)
    session_duration_seconds = optional(number)
    max_sessions             = optional(number)
    session_per_subject      = optional(bool)
    max_sts_calls_per_second = optional(number)
    warm_up_roles            = optional(list(string))
    tenants                  = optional(list(string))
    suspended_tenants        = optional(list(string))
    readiness_tenant         = optional(string)
    support_revocations      = optional(string)
    silos = optional(map(object({
      table_name      = optional(string)
      tenant_role_arn = optional(string)
      region          = optional(string)
      external_id     = optional(string)
      files_bucket    = optional(string)
      dax_endpoint    = optional(string)
      dax_role_arn    = optional(string)
    })))
    domains                   = optional(list(string))
    log_level                 = optional(string)
    introspection             = optional(bool)
    playground                = optional(bool)
    explain                   = optional(bool)
    cors_origins              = optional(list(string))
    max_body_bytes            = optional(number)
    gzip_min_bytes            = optional(number)
    request_timeout_seconds   = optional(number, 10)
    drain_timeout_seconds     = optional(number, 15)
    max_dynamodb_connections  = optional(number)
    max_concurrent_operations = optional(number)
    max_queued_per_tenant     = optional(number)
    metrics_port              = optional(number)
    metrics_host              = optional(string)
    workers                   = optional(number)
    stream                    = optional(string)
    stream_role_arn           = optional(string)

    max_subscription_connections     = optional(number)
    max_subscriptions_per_connection = optional(number)
    max_subscriptions_per_tenant     = optional(number)
    max_subscription_message_bytes   = optional(number)

    max_page_size            = optional(number)
    max_depth                = optional(number)
    max_aliases              = optional(number)
    max_root_fields          = optional(number)
    max_directives           = optional(number)
    max_document_chars       = optional(number)
    max_document_tokens      = optional(number)
    max_document_token_bytes = optional(number)
    max_list_length          = optional(number)
    max_nested_queries       = optional(number)
    max_cost                 = optional(number)
    max_cost_by_role         = optional(map(number))
    cache                    = optional(string)
    cache_max_bytes          = optional(number)
    dax_timeout_seconds      = optional(number)
    dax_threads              = optional(number)
    trusted_documents        = optional(string)
    trusted_documents_only   = optional(bool)
  })

  validation {
    condition     = contains(["off", "ttl", "dax", "ttl+dax"], coalesce(var.gateway_settings.cache, "off"))
    error_message = "The cache is `off`, `ttl`, `dax` or `ttl+dax`."
  }

  validation {
    condition     = !strcontains(coalesce(var.gateway_settings.cache, "off"), "dax") || var.dax != null || anytrue([for silo in values(coalesce(var.gateway_settings.silos, {})) : silo.dax_endpoint != null])
    error_message = "A cache in DAX needs a cluster: set `dax`, or `dax_endpoint` of a silo."
  }

  validation {
    condition     = length(setsubtract(compact(values(coalesce(var.gateway_settings.silos, {}))[*].tenant_role_arn), var.further_tenant_role_arns)) == 0
    error_message = "The gateway may not assume a role of `silos` that `further_tenant_role_arns` does not name: name each in both. Missing: ${join(", ", setsubtract(compact(values(coalesce(var.gateway_settings.silos, {}))[*].tenant_role_arn), var.further_tenant_role_arns))}."
  }
}

variable "gateway" {
  type = object({
    run                   = optional(bool, false)
    image                 = optional(string)
    certificate_arn       = optional(string)
    internal              = optional(bool, true)
    client_cidrs          = optional(set(string))
    web_acl_arn           = optional(string)
    access_logs_bucket    = optional(string)
    deletion_protection   = optional(bool, true)
    wait_for_steady_state = optional(bool, true)
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

  # an image that was named once on the command line is gone with the next apply, and must not take the service along
  validation {
    condition     = !try(var.gateway.run, false) || try(var.gateway.image, null) != null
    error_message = "`gateway.run` is true and `gateway.image` names no image. Keep both where every apply finds them, such as a file *.auto.tfvars; to stop the gateway, set `run` to false."
  }
}

variable "alarms" {
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
      failed_operations  = optional(number, 5)
      gateway_p99_ms     = optional(number, 1000)
      stream_lag_seconds = optional(number, 60)
      consumed_percent   = optional(number, 85)
      ceiling_percent    = optional(number, 90)
      expected_percent   = optional(number, 150)
      quota_percent      = optional(number, 80)
    }), {})
  })
}

variable "files" {
  type = object({
    cors_origins             = optional(set(string))
    recovery_days            = optional(number, 30)
    operator_role_arns       = optional(set(string), [])
    further_tenant_role_arns = optional(set(string), [])
    force_destroy            = optional(bool, false)
  })
}

variable "audit" {
  type = object({
    data_events    = optional(string, "writes")
    retention_days = optional(number, 400)
    force_destroy  = optional(bool, false)
  })
}

variable "dax" {
  type = object({
    accept_no_tenant_isolation = optional(bool, false)
    node_type                  = optional(string, "dax.t3.small")
    nodes                      = optional(number, 3)
    item_ttl_seconds           = optional(number, 300)
    query_ttl_seconds          = optional(number, 60)
    client_security_group_ids  = optional(map(string), {})
  })
}

variable "budget" {
  type = object({ monthly_usd = number })
}

variable "backup" {
  type = object({
    schedule         = optional(string, "cron(0 3 * * ? *)")
    keep_days        = optional(number, 90)
    copy_to_vault    = optional(string)
    copied_keep_days = optional(number, 90)
  })

  validation {
    condition     = var.backup == null ? true : min(var.backup.keep_days, var.backup.copied_keep_days) >= 1
    error_message = "Backups are kept for at least one day: `keep_days` and `copied_keep_days`."
  }
}
