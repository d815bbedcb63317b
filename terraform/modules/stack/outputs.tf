output "gateway_config" {
  description = "Settings for `gateway serve --config FILE`, as they are: `terraform output -json gateway_config > gateway.json`. The cursor secret comes from the environment."
  value       = local.settings
}

output "audit_config" {
  description = "What `gateway audit --config FILE` compares with AWS: the settings, and the gateway's role and VPC. `terraform output -json audit_config > audit.json`."
  value       = merge(local.settings, { gateway_role_arn = module.iam.gateway_role_arn, vpc_id = module.network.vpc_id })
}

output "table_name" {
  description = "Name of the table."
  value       = module.table.name
}

output "table_arn" {
  description = "ARN of the table."
  value       = module.table.arn
}

output "stream_arn" {
  description = "ARN of the table's stream."
  value       = module.table.stream_arn
}

output "gateway_role_arn" {
  description = "Role that the gateway runs in."
  value       = module.iam.gateway_role_arn
}

output "tenant_role_arn" {
  description = "Role that the gateway assumes for a tenant."
  value       = module.iam.tenant_role_arn
}

output "data_key_arn" {
  description = "Key that encrypts the table."
  value       = module.kms.data_key_arn
}

output "required_policies" {
  description = "What the policies must allow of keys and endpoints that were there already (`keys.existing`, `network.existing.endpoint_ids`)."
  value = {
    data_key          = module.kms.data_key_policy
    operations_key    = module.kms.operations_key_policy
    dynamodb_endpoint = module.iam.dynamodb_endpoint_policy
  }
}

output "repository_url" {
  description = "Where to push the gateway's image."
  value       = one(aws_ecr_repository.gateway[*].repository_url)
}

output "gateway_url" {
  description = "Address of the gateway."
  value       = one(module.gateway[*].url)
}

output "cursor_secret_arn" {
  description = "Where the cursor secret of the ECS service is kept."
  value       = one(module.gateway[*].cursor_secret_arn)
}

output "log_group_name" {
  description = "Where the gateway's log lines must go for the alarms on them to work."
  value       = module.observability.log_group_name
}

output "topics" {
  description = "Topics of what pages and of every single alarm."
  value       = { page = module.observability.page_topic_arn, notice = module.observability.notice_topic_arn }
}

output "vpc" {
  description = "The VPC and its private subnets."
  value       = { id = module.network.vpc_id, private_subnet_ids = module.network.private_subnet_ids }
}
