# Where the gateway's image lies, and the gateway.

resource "aws_ecr_repository" "gateway" {
  count = module.input.gateway == null ? 0 : 1

  name                 = var.name
  image_tag_mutability = "IMMUTABLE"
  force_delete         = !try(module.input.gateway.deletion_protection, true)

  encryption_configuration {
    encryption_type = "KMS"
    kms_key         = module.kms.operations_key_arn
  }

  image_scanning_configuration {
    scan_on_push = true
  }
}

resource "aws_ecr_lifecycle_policy" "gateway" {
  count = module.input.gateway == null ? 0 : 1

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
  image                    = module.input.gateway.image
  environment              = local.environment
  task_role_arn            = module.iam.gateway_role_arn
  vpc_id                   = module.network.vpc_id
  vpc_cidr                 = module.network.cidr
  private_subnet_ids       = module.network.private_subnet_ids
  load_balancer_subnet_ids = module.input.gateway.internal ? module.network.private_subnet_ids : module.network.public_subnet_ids
  prefix_list_ids          = module.network.prefix_list_ids
  internet                 = module.network.internet
  internal                 = module.input.gateway.internal
  certificate_arn          = module.input.gateway.certificate_arn
  client_cidrs             = coalesce(module.input.gateway.client_cidrs, [module.network.cidr])
  web_acl_arn              = module.input.gateway.web_acl_arn
  access_logs_bucket       = module.input.gateway.access_logs_bucket
  deletion_protection      = module.input.gateway.deletion_protection
  log_group_name           = module.observability.log_group_name
  log_group_arn            = module.observability.log_group_arn
  kms_key_arn              = module.kms.operations_key_arn
  repository_arn           = aws_ecr_repository.gateway[0].arn
  wait_for_steady_state    = module.input.gateway.wait_for_steady_state
  further_egress           = local.dax_used ? { "the DAX cluster" = { security_group_id = module.dax[0].security_group_id, port = module.dax[0].port } } : {}
  bus                      = module.input.bus == null ? null : { port = module.input.bus.port, security_group_id = module.input.bus.security_group_id, password_secret_arn = try(module.input.bus.web.password_secret_arn, null) }
  stream = module.input.bus == null ? null : {
    task_role_arn       = module.iam.stream_role_arn
    environment         = local.stream_environment
    password_secret_arn = try(module.input.bus.reader.password_secret_arn, null)
    tasks               = module.input.bus.tasks
    size                = module.input.bus.size
  }
  cursor_secret_version = module.input.gateway.cursor_secret_version
  size                  = module.input.gateway.size
  tasks                 = module.input.gateway.tasks
  # draining and what is under way, with some time to spare
  stop_seconds = ceil(module.input.gateway_settings.drain_timeout_seconds + module.input.gateway_settings.request_timeout_seconds + 10)
}

check "issuers_reachable" {
  assert {
    condition     = !local.served || module.network.internet
    error_message = "The gateway fetches the keys of its token issuers, and its subnets do not reach the internet: set network.create.nat, unless the issuers are inside the VPC."
  }
}

# A gateway endpoint does not reach DynamoDB Streams, and an interface endpoint for it has no private DNS.
check "stream_reachable" {
  assert {
    condition     = !local.served || module.input.bus == null || module.network.internet
    error_message = "The tasks of `gateway stream` reach DynamoDB Streams over the internet, and their subnets do not reach it: set network.create.nat, or run `gateway stream` yourself with the setting dynamodb_streams_endpoint."
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
