output "url" {
  description = "Address of the load balancer."
  value       = "${var.certificate_arn == null ? "http" : "https"}://${aws_lb.this.dns_name}"
}

output "task_security_group_id" {
  description = "Security group of the tasks."
  value       = aws_security_group.tasks.id
}

output "cursor_secret_arn" {
  description = "Where the cursor secret is kept."
  value       = aws_secretsmanager_secret.cursor.arn
}

output "alarms" {
  description = "What the module `observability` has to know to watch the service."
  value = {
    cluster       = aws_ecs_cluster.this.name
    service       = aws_ecs_service.this.name
    load_balancer = aws_lb.this.arn_suffix
    target_group  = aws_lb_target_group.this.arn_suffix
  }
}
