output "cluster_name" {
  description = "Name of the cluster."
  value       = aws_dax_cluster.this.cluster_name
}

output "endpoint" {
  description = "Address of the cluster, for programs that may read all tenants."
  value       = aws_dax_cluster.this.configuration_endpoint
}

output "url" {
  description = "Address of the cluster as the gateway's setting `dax_endpoint` takes it."
  value       = "daxs://${aws_dax_cluster.this.configuration_endpoint}"
}

output "reader_role_arn" {
  description = "Role in which the gateway reads from the cluster; null where it does not."
  value       = var.gateway_role_arn == null ? null : local.reader_role_arn
}

output "port" {
  description = "Port of the cluster."
  value       = local.port
}

output "security_group_id" {
  description = "Security group of the cluster."
  value       = aws_security_group.this.id
}
