output "cluster_name" {
  description = "Name of the cluster."
  value       = aws_dax_cluster.this.cluster_name
}

output "endpoint" {
  description = "Address of the cluster, for programs that may read all tenants."
  value       = aws_dax_cluster.this.configuration_endpoint
}

output "security_group_id" {
  description = "Security group of the cluster."
  value       = aws_security_group.this.id
}
