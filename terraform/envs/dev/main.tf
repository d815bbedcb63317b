# Development: everything that production has in kind, with less of it: no audit trail, no interface endpoints, short
# retention, and a table that `terraform destroy` may delete.

provider "aws" {
  region              = var.region
  allowed_account_ids = var.account_id == null ? null : [var.account_id]

  default_tags {
    tags = merge({
      app         = "gateway"
      env         = "dev"
      owner       = "platform"
      cost-center = "engineering"
      data-class  = "test"
    }, var.tags)
  }
}

module "stack" {
  source = "../../modules/stack"

  name               = "gateway-dev"
  table_name         = var.table_name
  issuers            = var.issuers
  gateway_principals = var.developers
  revoke_sessions    = var.revoke_sessions
  gateway_settings   = { introspection = true, suspended_tenants = var.suspended_tenants, cache = var.cache }

  capacity = { mode = var.capacity_mode, provisioned = var.provisioned }
  table    = { deletion_protection = false, recovery_days = 7 }
  keys     = { deletion_window_days = 7 }

  # with NAT for the issuers, the interface endpoints can be spared
  network = {
    create              = { nat = var.run_gateway ? "single" : "none" }
    interface_endpoints = []
  }

  gateway = {
    run                 = var.run_gateway
    image               = var.gateway_image
    deletion_protection = false
    tasks               = { min = 1, max = 2 }
  }

  alarms = {
    page_emails        = var.page_emails
    notice_emails      = var.notice_emails
    runbooks           = var.runbooks
    log_retention_days = 30
  }

  audit = null
  dax   = var.dax
  bus   = var.bus
}
