# Who wrote which key, by AWS's own account, and who but a tenant read one: data events of the table, chosen by
# `data_events`, and the changes made to the account.
# The session name and the source identity of an event name the tenant. Values of other attributes are never recorded.

locals {
  account    = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  region     = data.aws_region.current.id
  trail_name = "${var.name}-audit"
  trail_arn  = "arn:${local.partition}:cloudtrail:${local.region}:${local.account}:trail/${local.trail_name}"
}

locals {
  # the ARN of every session of the tenants' role begins like this
  tenant_sessions = "arn:${local.partition}:sts::${local.account}:assumed-role/${element(split("/", var.tenant_role_arn), -1)}/"
  by_others       = { field = "userIdentity.arn", not_starts_with = [local.tenant_sessions] }
  by_tenants      = { field = "userIdentity.arn", starts_with = [local.tenant_sessions] }
  writing         = { field = "readOnly", equals = ["false"] }

  # Data events cannot be selected by their outcome (`errorCode` is for network activity alone), so that what AWS denies to a
  # tenant's read is not singled out here: the gateway itself writes a line about it, which an alarm reads.
  recorded = {
    all    = { Rows = [] }
    writes = { RowsByOthers = [local.by_others], WritesByTenants = [local.by_tenants, local.writing] }
    others = { RowsByOthers = [local.by_others] }
    none   = {}
  }[var.data_events]
}

data "aws_partition" "current" {}

data "aws_region" "current" {}

data "aws_caller_identity" "current" {}

resource "aws_cloudtrail" "this" {
  #checkov:skip=CKV_AWS_252:Alarms read the log group; a message for each delivered file would tell nobody anything
  name                          = local.trail_name
  s3_bucket_name                = aws_s3_bucket.this.bucket
  kms_key_id                    = var.kms_key_arn
  enable_log_file_validation    = true
  include_global_service_events = true
  is_multi_region_trail         = true
  cloud_watch_logs_group_arn    = "${aws_cloudwatch_log_group.this.arn}:*"
  cloud_watch_logs_role_arn     = aws_iam_role.logs.arn

  dynamic "advanced_event_selector" {
    for_each = local.recorded

    content {
      name = advanced_event_selector.key

      field_selector {
        field  = "eventCategory"
        equals = ["Data"]
      }

      field_selector {
        field  = "resources.type"
        equals = ["AWS::DynamoDB::Table"]
      }

      field_selector {
        field  = "resources.ARN"
        equals = [var.table_arn]
      }

      dynamic "field_selector" {
        for_each = advanced_event_selector.value

        content {
          field           = field_selector.value.field
          equals          = try(field_selector.value.equals, null)
          starts_with     = try(field_selector.value.starts_with, null)
          not_starts_with = try(field_selector.value.not_starts_with, null)
        }
      }
    }
  }

  # EventBridge rules on API calls, such as the one on changes of keys, work only where a trail records them
  advanced_event_selector {
    name = "Changes"

    field_selector {
      field  = "eventCategory"
      equals = ["Management"]
    }

    field_selector {
      field  = "readOnly"
      equals = ["false"]
    }
  }

  depends_on = [aws_s3_bucket_policy.this, aws_iam_role_policy.logs]
}

resource "aws_cloudwatch_log_group" "this" {
  #checkov:skip=CKV_AWS_338:The bucket keeps the records; this copy is for alarms
  name              = "/audit/${var.name}"
  retention_in_days = var.log_retention_days
  kms_key_id        = var.kms_key_arn
}

# No condition on aws:SourceArn: CloudTrail does not send it when it assumes this role, and its events would never arrive.
# A role can be handed to a service only inside of its own account.
data "aws_iam_policy_document" "logs_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["cloudtrail.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "logs" {
  statement {
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${aws_cloudwatch_log_group.this.arn}:*"]
  }
}

resource "aws_iam_role" "logs" {
  name               = "${var.name}-${local.region}-audit"
  assume_role_policy = data.aws_iam_policy_document.logs_trust.json
}

resource "aws_iam_role_policy" "logs" {
  name   = "write"
  role   = aws_iam_role.logs.name
  policy = data.aws_iam_policy_document.logs.json
}
