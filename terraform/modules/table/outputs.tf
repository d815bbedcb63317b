output "name" {
  description = "Name of the table."
  value       = aws_dynamodb_table.this.name
}

output "arn" {
  description = "ARN of the table."
  value       = aws_dynamodb_table.this.arn
}

output "stream_arn" {
  description = "ARN of the stream; null where it is off."
  value       = aws_dynamodb_table.this.stream_enabled ? aws_dynamodb_table.this.stream_arn : null
}

output "index_names" {
  description = "Names of the indexes."
  value       = keys(local.indexes)
}

# Bounds and never the live capacity: an output that moves by itself would make every plan show a change.
output "bounds" {
  description = "Autoscaling bounds of the table and of each index by name; empty in on-demand mode."
  value       = { for name, of in local.bounds : name => of if local.provisioned }
}
