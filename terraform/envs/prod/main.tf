# Production: three zones, an audit trail, a table that cannot be deleted, copies in a vault, a budget.

provider "aws" {
  region              = var.region
  allowed_account_ids = var.account_id == null ? null : [var.account_id]

  default_tags {
    tags = merge({
      app         = "gateway"
      env         = "prod"
      owner       = "platform"
      cost-center = "product"
      data-class  = "customer"
    }, var.tags)
  }
}

# `terraform destroy` is refused here, while it is only a plan. The table refuses too, by its deletion protection, but by
# then roles, alarms and network would be gone. To do it on purpose, remove this block first, in a reviewed change.
resource "terraform_data" "kept" {
  lifecycle {
    prevent_destroy = true
  }
}

module "stack" {
  source = "../../modules/stack"

  name                 = "gateway-prod"
  table_name           = var.table_name
  issuers              = var.issuers
  revoke_sessions      = var.revoke_sessions
  deployment_role_arns = var.deployment_role_arns
  gateway_settings     = { suspended_tenants = var.suspended_tenants, cache = var.cache }

  capacity = { mode = var.capacity_mode, provisioned = var.provisioned }
  table    = { contributor_insights = true }

  network = {
    create        = { zones = 3, public = true, nat = "per_zone" }
    flow_log_days = 90
  }

  gateway = {
    run             = var.run_gateway
    image           = var.gateway_image
    certificate_arn = var.certificate_arn
    internal        = false
    client_cidrs    = var.client_cidrs
    web_acl_arn     = var.web_acl_arn
    size            = { cpu = 1024, memory = 2048 }
    tasks           = { min = 3, max = 30 }
  }

  alarms = {
    page_emails   = var.page_emails
    notice_emails = var.notice_emails
    runbooks      = var.runbooks
  }

  audit  = { data_events = var.audit_data_events }
  dax    = var.dax
  bus    = var.bus
  backup = { copy_to_vault = var.backup_copy_vault_arn }
  budget = { monthly_usd = var.monthly_usd }
}
