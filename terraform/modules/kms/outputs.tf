output "data_key_arn" {
  description = "Key that encrypts the table."
  value       = aws_kms_key.data.arn
}

output "data_key_id" {
  description = "Id of the key that encrypts the table."
  value       = aws_kms_key.data.key_id
}

output "operations_key_arn" {
  description = "Key that encrypts logs, notifications and secrets."
  value       = aws_kms_key.operations.arn
}

output "operations_key_id" {
  description = "Id of the key that encrypts logs, notifications and secrets."
  value       = aws_kms_key.operations.key_id
}
