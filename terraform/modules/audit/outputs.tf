output "trail_arn" {
  description = "The trail."
  value       = aws_cloudtrail.this.arn
}

output "bucket" {
  description = "Bucket that keeps the records."
  value       = aws_s3_bucket.this.bucket
}

output "log_group_name" {
  description = "Log group with the records, for alarms."
  value       = aws_cloudwatch_log_group.this.name
}
