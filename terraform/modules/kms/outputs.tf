output "data_key_arn" {
  description = "Key that encrypts the table."
  value       = coalesce(var.existing.data_arn, one(aws_kms_key.data[*].arn))
}

output "data_key_id" {
  description = "Id of the key that encrypts the table."
  value       = try(split("/", var.existing.data_arn)[1], aws_kms_key.data[0].key_id)
}

output "operations_key_arn" {
  description = "Key that encrypts logs, notifications and secrets."
  value       = coalesce(var.existing.operations_arn, one(aws_kms_key.operations[*].arn))
}

output "operations_key_id" {
  description = "Id of the key that encrypts logs, notifications and secrets."
  value       = try(split("/", var.existing.operations_arn)[1], aws_kms_key.operations[0].key_id)
}

output "data_key_policy" {
  description = "What the policy of the table's key must allow, and does where the key is made here."
  value       = data.aws_iam_policy_document.data.json
}

output "operations_key_policy" {
  description = "What the policy of the other key must allow, and does where the key is made here."
  value       = data.aws_iam_policy_document.operations.json
}
