# Two topics: one pages, one informs. And the rule on changes of the data key, for which KMS has no metric.

locals {
  topics = { page = aws_sns_topic.page.arn, notice = aws_sns_topic.notice.arn }
}

data "aws_caller_identity" "current" {}

resource "aws_sns_topic" "page" {
  name              = "${var.name}-page"
  kms_master_key_id = var.kms_key_arn
}

resource "aws_sns_topic" "notice" {
  name              = "${var.name}-notice"
  kms_master_key_id = var.kms_key_arn
}

data "aws_iam_policy_document" "topic" {
  for_each = local.topics

  statement {
    sid       = "Alarms"
    actions   = ["sns:Publish"]
    resources = [each.value]

    principals {
      type        = "Service"
      identifiers = ["budgets.amazonaws.com", "cloudwatch.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account]
    }
  }

  # no condition: EventBridge publishes without aws:SourceAccount
  statement {
    sid       = "Events"
    actions   = ["sns:Publish"]
    resources = [each.value]

    principals {
      type        = "Service"
      identifiers = ["events.amazonaws.com"]
    }
  }
}

resource "aws_sns_topic_policy" "this" {
  for_each = local.topics

  arn    = each.value
  policy = data.aws_iam_policy_document.topic[each.key].json
}

resource "aws_sns_topic_subscription" "page" {
  for_each = var.page_emails

  topic_arn = aws_sns_topic.page.arn
  protocol  = "email"
  endpoint  = each.key
}

resource "aws_sns_topic_subscription" "notice" {
  for_each = var.notice_emails

  topic_arn = aws_sns_topic.notice.arn
  protocol  = "email"
  endpoint  = each.key
}

# Works only where a trail of the account records management events; the module `audit` makes one.
resource "aws_cloudwatch_event_rule" "data_key" {
  name        = "${var.name}-data-key"
  description = "${local.data.event_rules["data-key"].says} Runbook: ${var.runbooks}/${local.data.event_rules["data-key"].runbook}.md"

  event_pattern = jsonencode({
    source      = ["aws.kms"]
    detail-type = ["AWS API Call via CloudTrail"]
    detail = {
      eventSource = ["kms.amazonaws.com"]
      eventName = [
        "DeleteImportedKeyMaterial", "DisableKey", "DisableKeyRotation", "PutKeyPolicy", "RevokeGrant",
        "ScheduleKeyDeletion",
      ]
      # callers may name a key by its id or by its ARN
      requestParameters = { keyId = [var.data_key.id, var.data_key.arn] }
    }
  })
}

resource "aws_cloudwatch_event_target" "data_key" {
  rule      = aws_cloudwatch_event_rule.data_key.name
  target_id = "page"
  arn       = aws_sns_topic.page.arn

  input_transformer {
    input_paths = {
      event = "$.detail.eventName"
      who   = "$.detail.userIdentity.arn"
      time  = "$.detail.eventTime"
    }
    input_template = "\"<event> on the key of ${var.table_name} by <who> at <time>. Runbook: ${var.runbooks}/key-changes.md\""
  }
}
