# One environment: the table, its keys and roles, the way to it, the alarms on it, and the gateway.

locals {
  table_name = coalesce(var.table_name, var.name)
  definition = jsondecode(file(coalesce(var.table_file, "${path.module}/../../table.json")))

  # units per second above which consumption is unexpected, by place: what the model's own traffic takes and some more
  consumed_per_second = {
    for place in concat(["table"], local.definition.indexes[*].name) : place => {
      for kind in ["read", "write"] : kind => coalesce(
        module.input.capacity.expected[kind],
        try(max(25, ceil(local.definition.expected[place][kind] * module.input.alarms.thresholds.expected_percent / 100)), null),
        { read = 3000, write = 1000 }[kind],
      )
    }
  }

  # of a model with files, the policies name a bucket
  has_files   = fileexists("${coalesce(var.policies_dir, "${path.module}/../../../policies")}/vpc-endpoint-files.json")
  bucket_name = local.has_files ? "${var.name}-files-${data.aws_caller_identity.current.account_id}-${data.aws_region.current.id}" : null

  settings = merge(
    {
      table_name      = module.table.name
      region          = data.aws_region.current.id
      tenant_role_arn = module.iam.tenant_role_arn
      issuers         = [for issuer in module.input.issuers : { for name, value in issuer : name => value if value != null }]
    },
    { for name in module.files[*].bucket_name : "files_bucket" => name },
    { for number, tenant in local.readiness_tenants : "readiness_tenant" => tenant if number == 0 },
    { for name, value in module.input.gateway_settings : name => value if value != null && name != "silos" },
    {
      for name, silos in { silos = module.input.gateway_settings.silos } :
      name => { for tenant, silo in silos : tenant => { for key, value in silo : key => value if value != null } } if silos != null
    },
    { for name, value in local.bus_settings : name => value if value != null },
    { for name, user in { bus_user = try(module.input.bus.web.user, null) } : name => user if user != null },
    # the cluster that `dax` makes, where the gateway uses it
    local.dax_used ? {
      dax_endpoint          = module.dax[0].url
      dax_role_arn          = module.dax[0].reader_role_arn
      dax_item_ttl_seconds  = module.input.dax.item_ttl_seconds
      dax_query_ttl_seconds = module.input.dax.query_ttl_seconds

      dax_accept_gateway_only_isolation = module.input.dax.accept_no_tenant_isolation
    } : {},
  )

  bus_settings = {
    stream      = module.input.bus == null ? null : "bus"
    bus_servers = try(module.input.bus.servers, null)
    bus_stream  = try(module.input.bus.stream, null)
    bus_ca      = try(module.input.bus.ca, null)
  }
  # of the process that reads the table's stream: nothing of tenants, and no role to assume, since it runs in the one it needs
  stream_settings = merge(
    { for name, value in local.bus_settings : name => value if value != null },
    { for name, value in { bus_user = try(module.input.bus.reader.user, null), bus_replicas = try(module.input.bus.replicas, null) } : name => value if value != null },
    { for name in ["table_name", "region", "domains", "log_level"] : name => local.settings[name] if try(local.settings[name], null) != null },
  )
  stream_environment = { for name, value in local.stream_settings : "GATEWAY_${upper(name)}" => try(tostring(value), jsonencode(value)) }

  # whose session asks, before a task takes requests, whether the table and its indexes can be read: a pooled tenant, or
  # one that has no items where every tenant is served
  readiness_tenants = [
    for tenant in coalesce(module.input.gateway_settings.tenants, ["gateway-readiness"]) : tenant
    if !contains(keys(coalesce(module.input.gateway_settings.silos, {})), tenant) && !contains(coalesce(module.input.gateway_settings.suspended_tenants, []), tenant)
  ]

  # the same settings as environment variables: texts as they are, the rest as JSON
  environment = { for name, value in local.settings : "GATEWAY_${upper(name)}" => try(tostring(value), jsonencode(value)) }

  dax_used    = module.input.dax != null && strcontains(coalesce(module.input.gateway_settings.cache, "off"), "dax")
  dax_readers = compact(concat(module.dax[*].reader_role_arn, [for silo in values(coalesce(module.input.gateway_settings.silos, {})) : silo.dax_role_arn]))

  served = try(module.input.gateway.run, false)
}

data "aws_region" "current" {}

data "aws_caller_identity" "current" {}

locals {
  # the defaults of a VPC to make, unless one is given; both together are refused by the module
  create = module.input.network.existing != null && module.input.network.create == null ? null : try(coalesce(module.input.network.create), {})
}

module "input" {
  source = "./input"

  capacity                 = var.capacity
  table                    = var.table
  keys                     = var.keys
  network                  = var.network
  revoke_sessions          = var.revoke_sessions
  issuers                  = var.issuers
  gateway_settings         = var.gateway_settings
  gateway                  = var.gateway
  alarms                   = var.alarms
  audit                    = var.audit
  dax                      = var.dax
  bus                      = var.bus
  budget                   = var.budget
  backup                   = var.backup
  files                    = var.files
  further_tenant_role_arns = var.further_tenant_role_arns

  written = {
    capacity         = var.capacity
    table            = var.table
    keys             = var.keys
    network          = var.network
    revoke_sessions  = var.revoke_sessions
    issuers          = var.issuers
    gateway_settings = var.gateway_settings
    gateway          = var.gateway
    alarms           = var.alarms
    audit            = var.audit
    dax              = var.dax
    bus              = var.bus
    budget           = var.budget
    backup           = var.backup
    files            = var.files
  }
}

module "iam" {
  source = "../iam"

  name                     = var.name
  table_name               = local.table_name
  bucket_name              = local.bucket_name
  policies_dir             = var.policies_dir
  gateway_principals       = var.gateway_principals
  further_tenant_role_arns = var.further_tenant_role_arns
  dax_reader_role_arns     = local.dax_readers
  stream_role              = module.input.bus != null
  revoke_sessions          = module.input.revoke_sessions
}

module "kms" {
  source = "../kms"

  name                 = var.name
  table_name           = local.table_name
  tenant_role_arns     = [module.iam.tenant_role_arn]
  trail_name           = module.input.audit == null ? null : "${var.name}-audit"
  rotation_days        = module.input.keys.rotation_days
  deletion_window_days = module.input.keys.deletion_window_days
  existing             = module.input.keys.existing
}

# No depends_on here: it would hide the live capacity from the plan.
module "table" {
  source = "../table"

  name                 = local.table_name
  definition           = local.definition
  kms_key_arn          = module.kms.data_key_arn
  capacity_mode        = module.input.capacity.mode
  on_demand_limits     = module.input.capacity.on_demand
  provisioned          = module.input.capacity.provisioned
  deletion_protection  = module.input.table.deletion_protection
  recovery_days        = module.input.table.recovery_days
  stream_view_type     = module.input.table.stream_view_type
  contributor_insights = module.input.table.contributor_insights
}

module "network" {
  source = "../network"

  name                     = var.name
  create                   = local.create
  existing                 = module.input.network.existing
  interface_endpoints      = module.input.network.interface_endpoints
  dynamodb_endpoint_policy = module.iam.dynamodb_endpoint_policy
  sts_endpoint_policy      = module.iam.sts_endpoint_policy
  s3_endpoint_statements   = module.iam.s3_endpoint_statements
  flow_logs                = module.input.network.flow_log_days == null ? null : { days = module.input.network.flow_log_days, kms_key_arn = module.kms.operations_key_arn }
}

module "files" {
  source = "../files"
  count  = local.has_files ? 1 : 0

  bucket_name        = local.bucket_name
  tenant_role_arns   = setunion([module.iam.tenant_role_arn], module.input.files.further_tenant_role_arns)
  operator_role_arns = module.input.files.operator_role_arns
  cors_origins       = coalesce(module.input.files.cors_origins, module.input.gateway_settings.cors_origins, [])
  recovery_days      = module.input.files.recovery_days
  force_destroy      = module.input.files.force_destroy
}

module "audit" {
  source = "../audit"
  count  = module.input.audit == null ? 0 : 1

  name            = var.name
  table_arn       = module.table.arn
  tenant_role_arn = module.iam.tenant_role_arn
  kms_key_arn     = module.kms.operations_key_arn
  data_events     = module.input.audit.data_events
  retention_days  = module.input.audit.retention_days
  force_destroy   = module.input.audit.force_destroy
}

module "dax" {
  source = "../dax"
  count  = module.input.dax == null ? 0 : 1

  name                       = substr(trimsuffix(substr("${var.name}-dax", 0, 20), "-"), 0, 20)
  accept_no_tenant_isolation = module.input.dax.accept_no_tenant_isolation
  table_arn                  = module.table.arn
  kms_key_arn                = module.kms.data_key_arn
  index_names                = module.table.index_names
  vpc_id                     = module.network.vpc_id
  subnet_ids                 = module.network.private_subnet_ids
  client_security_group_ids  = merge(module.input.dax.client_security_group_ids, local.dax_used && local.served ? { gateway = module.gateway[0].task_security_group_id } : {})
  gateway_role_arn           = local.dax_used ? module.iam.gateway_role_arn : null
  node_type                  = module.input.dax.node_type
  nodes                      = module.input.dax.nodes
  item_ttl_seconds           = module.input.dax.item_ttl_seconds
  query_ttl_seconds          = module.input.dax.query_ttl_seconds
}

module "observability" {
  source = "../observability"

  name                 = var.name
  table_name           = module.table.name
  index_names          = local.definition.indexes[*].name
  capacity_mode        = module.input.capacity.mode
  bounds               = module.table.bounds
  on_demand_limits     = module.input.capacity.on_demand
  consumed_per_second  = local.consumed_per_second
  latency_ms           = module.input.alarms.latency_ms
  thresholds           = module.input.alarms.thresholds
  user_errors          = module.input.alarms.user_errors
  tenant_role          = { name = module.iam.tenant_role_name, arn = module.iam.tenant_role_arn, boundary_arn = module.iam.boundary_arn }
  gateway_role_name    = module.iam.gateway_role_name
  stream_role_name     = module.iam.stream_role_name
  trail_log_group_name = one(module.audit[*].log_group_name)
  deployment_role_arns = var.deployment_role_arns
  backups              = module.input.backup != null
  data_key             = { id = module.kms.data_key_id, arn = module.kms.data_key_arn }
  kms_key_arn          = module.kms.operations_key_arn
  gateway              = one(module.gateway[*].alarms)
  dax_cluster          = one(module.dax[*].cluster_name)
  page_emails          = module.input.alarms.page_emails
  notice_emails        = module.input.alarms.notice_emails
  actions_enabled      = module.input.alarms.actions_enabled
  log_retention_days   = module.input.alarms.log_retention_days
  runbooks             = module.input.alarms.runbooks
}
