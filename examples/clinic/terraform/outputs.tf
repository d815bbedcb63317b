output "gateway_config" {
  description = "Settings of the gateway."
  value       = module.stack.gateway_config
}

output "audit_config" {
  description = "Configuration of `gateway audit`."
  value       = module.stack.audit_config
}
