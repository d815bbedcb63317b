output "gateway_config" {
  description = "Settings for `gateway serve --config FILE`: `terraform output -json gateway_config > gateway.json`."
  value       = module.stack.gateway_config
}

output "audit_config" {
  description = "What `gateway audit --config FILE` compares with AWS: `terraform output -json audit_config > audit.json`."
  value       = module.stack.audit_config
}

output "repository_url" {
  description = "Where to push the gateway's image."
  value       = module.stack.repository_url
}

output "gateway_url" {
  description = "Address of the gateway, once it has an image."
  value       = module.stack.gateway_url
}

output "gateway_role_arn" {
  description = "Role that the gateway runs in."
  value       = module.stack.gateway_role_arn
}

output "log_group_name" {
  description = "The gateway's log lines."
  value       = module.stack.log_group_name
}

output "topics" {
  description = "Topics of what pages and of every single alarm."
  value       = module.stack.topics
}
