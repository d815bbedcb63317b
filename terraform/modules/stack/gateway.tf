# Where the gateway's image lies, and the gateway.

resource "aws_ecr_repository" "gateway" {
  count = var.gateway == null ? 0 : 1

  name                 = var.name
  image_tag_mutability = "IMMUTABLE"
  force_delete         = !try(var.gateway.deletion_protection, true)

  encryption_configuration {
    encryption_type = "KMS"
    kms_key         = module.kms.operations_key_arn
  }

  image_scanning_configuration {
    scan_on_push = true
  }
}

resource "aws_ecr_lifecycle_policy" "gateway" {
  count = var.gateway == null ? 0 : 1

  repository = aws_ecr_repository.gateway[0].name
  policy = jsonencode({
    rules = [{
      rulePriority = 1
      description  = "Keep what a roll-back may need"
      selection    = { tagStatus = "any", countType = "imageCountMoreThan", countNumber = 30 }
      action       = { type = "expire" }
    }]
  })
}

module "gateway" {
  source = "../gateway-ecs"
  count  = local.served ? 1 : 0

  name                     = var.name
  image                    = var.gateway.image
  environment              = local.environment
  task_role_arn            = module.iam.gateway_role_arn
  vpc_id                   = module.network.vpc_id
  vpc_cidr                 = module.network.cidr
  private_subnet_ids       = module.network.private_subnet_ids
  load_balancer_subnet_ids = var.gateway.internal ? module.network.private_subnet_ids : module.network.public_subnet_ids
  prefix_list_ids          = module.network.prefix_list_ids
  internet                 = module.network.internet
  internal                 = var.gateway.internal
  certificate_arn          = var.gateway.certificate_arn
  client_cidrs             = coalesce(var.gateway.client_cidrs, [module.network.cidr])
  web_acl_arn              = var.gateway.web_acl_arn
  access_logs_bucket       = var.gateway.access_logs_bucket
  deletion_protection      = var.gateway.deletion_protection
  log_group_name           = module.observability.log_group_name
  log_group_arn            = module.observability.log_group_arn
  kms_key_arn              = module.kms.operations_key_arn
  repository_arn           = aws_ecr_repository.gateway[0].arn
  further_egress           = local.dax_used ? { "the DAX cluster" = { security_group_id = module.dax[0].security_group_id, port = module.dax[0].port } } : {}
  cursor_secret_version    = var.gateway.cursor_secret_version
  size                     = var.gateway.size
  tasks                    = var.gateway.tasks
  # draining and what is under way, with some time to spare
  stop_seconds = min(120, ceil(var.gateway_settings.drain_seconds + var.gateway_settings.request_seconds + 10))
}

check "issuers_reachable" {
  assert {
    condition     = !local.served || module.network.internet
    error_message = "The gateway fetches the keys of its token issuers, and its subnets do not reach the internet: set network.create.nat, unless the issuers are inside the VPC."
  }
}

# For programs that start the gateway elsewhere.
resource "aws_ssm_parameter" "gateway_config" {
  #checkov:skip=CKV2_AWS_34:There is no secret in it
  name        = "/${var.name}/gateway-config"
  description = "Settings for `gateway serve --config`"
  type        = "String"
  tier        = "Intelligent-Tiering"
  value       = jsonencode(local.settings)
}
