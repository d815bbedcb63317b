output "log_group_name" {
  description = "Where the gateway's log lines must go for the alarms on them to work."
  value       = aws_cloudwatch_log_group.gateway.name
}

output "log_group_arn" {
  description = "ARN of that log group."
  value       = aws_cloudwatch_log_group.gateway.arn
}

output "page_topic_arn" {
  description = "Topic of what pages."
  value       = aws_sns_topic.page.arn
}

output "notice_topic_arn" {
  description = "Topic of every single alarm."
  value       = aws_sns_topic.notice.arn
}

output "composite_alarm_name" {
  description = "The alarm that pages."
  value       = aws_cloudwatch_composite_alarm.data_plane.alarm_name
}

output "dashboard_name" {
  description = "The dashboard."
  value       = aws_cloudwatch_dashboard.this.dashboard_name
}
