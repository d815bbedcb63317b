output "capacity" {
  value = var.capacity
}

# an output of its own, which nothing waits for: a wrong value does not hide a misspelt member, nor the other way round
output "members_known" {
  value = length(local.unknown) == 0

  precondition {
    condition     = length(local.unknown) == 0
    error_message = "No such input: ${join("; ", local.told)}."
  }
}

output "table" {
  value = var.table
}

output "keys" {
  value = var.keys
}

output "network" {
  value = var.network
}

output "revoke_sessions" {
  value = var.revoke_sessions
}

output "issuers" {
  value = var.issuers
}

output "gateway_settings" {
  value = var.gateway_settings
}

output "gateway" {
  value = var.gateway
}

output "alarms" {
  value = var.alarms
}

output "files" {
  value = var.files
}

output "audit" {
  value = var.audit
}

output "dax" {
  value = var.dax
}

output "bus" {
  value = var.bus
}

output "budget" {
  value = var.budget
}

output "backup" {
  value = var.backup
}
