output "table_name" {
  description = "Setting table_name of the gateway."
  value       = module.table.name
}

output "region" {
  description = "Setting region of the gateway."
  value       = var.region
}

output "tenant_role_arn" {
  description = "Setting tenant_role_arn of the gateway."
  value       = module.iam.tenant_role_arn
}

output "gateway_role_arn" {
  description = "Role to run the gateway in."
  value       = module.iam.gateway_role_arn
}
