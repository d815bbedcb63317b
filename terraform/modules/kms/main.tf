# Two keys: one for the rows, which nobody can use but through DynamoDB, and one for logs, alarms and secrets, which
# services of AWS have to use. So the policy of the first stays short enough to be read.

locals {
  account    = data.aws_caller_identity.current.account_id
  partition  = data.aws_partition.current.partition
  region     = data.aws_region.current.id
  suffix     = data.aws_partition.current.dns_suffix
  everyone   = "arn:${local.partition}:iam::${local.account}:root"
  dynamodb   = "dynamodb.${local.region}.${local.suffix}"
  used_by    = [for service in ["backup", "ecr", "s3", "secretsmanager", "sns", "ssm"] : "${service}.${local.region}.${local.suffix}"]
  any_logs   = "arn:${local.partition}:logs:${local.region}:${local.account}:log-group:*"
  any_alarms = "arn:${local.partition}:cloudwatch:${local.region}:${local.account}:alarm:*"
  trails     = [for name in [var.trail_name] : "arn:${local.partition}:cloudtrail:${local.region}:${local.account}:trail/${name}" if name != null]

  # everything but the use of the key, grants included: to read, an administrator has to change the policy, which pages
  administration = [
    "kms:CancelKeyDeletion", "kms:CreateAlias", "kms:Delete*", "kms:Describe*", "kms:Disable*", "kms:Enable*", "kms:Get*",
    "kms:List*", "kms:Put*", "kms:Revoke*", "kms:RotateKeyOnDemand", "kms:ScheduleKeyDeletion", "kms:TagResource",
    "kms:UntagResource", "kms:Update*",
  ]
}

data "aws_partition" "current" {}

data "aws_region" "current" {}

data "aws_caller_identity" "current" {}

data "aws_iam_policy_document" "data" {
  #checkov:skip=CKV_AWS_109:A key policy names its own key as `*`; without administration by the account the key could never be changed again
  #checkov:skip=CKV_AWS_111:As above; the statements for use are limited to DynamoDB by kms:ViaService
  #checkov:skip=CKV_AWS_356:The resource of a key policy is always `*`, which means this key
  statement {
    sid       = "Administration"
    actions   = local.administration
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = [local.everyone]
    }
  }

  # Deployments, restores and backups: whom IAM lets use DynamoDB, and through DynamoDB alone.
  statement {
    sid       = "AccountThroughDynamoDB"
    actions   = ["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = [local.everyone]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = [local.dynamodb]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:CallerAccount"
      values   = [local.account]
    }
  }

  # DynamoDB decrypts the table's key on behalf of the principal that reads or writes the table.
  statement {
    sid       = "TenantsThroughDynamoDB"
    actions   = ["kms:Decrypt"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = var.tenant_role_arns
    }

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = [local.dynamodb]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:CallerAccount"
      values   = [local.account]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:EncryptionContext:aws:dynamodb:tableName"
      values   = [var.table_name]
    }
  }
}

resource "aws_kms_key" "data" {
  count = var.existing.data_arn == null ? 1 : 0

  description             = "Rows of ${var.table_name}"
  policy                  = data.aws_iam_policy_document.data.json
  enable_key_rotation     = true
  rotation_period_in_days = var.rotation_days
  deletion_window_in_days = var.deletion_window_days
}

resource "aws_kms_alias" "data" {
  count = var.existing.data_arn == null ? 1 : 0

  name          = "alias/${var.name}-data"
  target_key_id = aws_kms_key.data[0].key_id
}

data "aws_iam_policy_document" "operations" {
  #checkov:skip=CKV_AWS_109:A key policy names its own key as `*`; without administration by the account the key could never be changed again
  #checkov:skip=CKV_AWS_111:As above; the statements for use are limited to services by kms:ViaService or a service principal
  #checkov:skip=CKV_AWS_356:The resource of a key policy is always `*`, which means this key
  statement {
    sid       = "Administration"
    actions   = local.administration
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = [local.everyone]
    }
  }

  # repositories and vaults live by grants, and give them back when they are deleted
  statement {
    sid = "AccountThroughServices"
    actions = [
      "kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*",
      "kms:RetireGrant",
    ]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = [local.everyone]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = local.used_by
    }

    condition {
      test     = "StringEquals"
      variable = "kms:CallerAccount"
      values   = [local.account]
    }
  }

  # Without this statement alarms are created and deliver nothing.
  statement {
    sid       = "Alarms"
    actions   = ["kms:Decrypt", "kms:GenerateDataKey*"]
    resources = ["*"]

    principals {
      type        = "Service"
      identifiers = ["cloudwatch.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account]
    }

    condition {
      test     = "ArnLike"
      variable = "aws:SourceArn"
      values   = [local.any_alarms]
    }
  }

  # EventBridge sends no aws:SourceArn or aws:SourceAccount here: a condition on them would stop its messages.
  statement {
    sid       = "Events"
    actions   = ["kms:Decrypt", "kms:GenerateDataKey*"]
    resources = ["*"]

    principals {
      type        = "Service"
      identifiers = ["events.amazonaws.com"]
    }
  }

  statement {
    sid       = "Budgets"
    actions   = ["kms:Decrypt", "kms:GenerateDataKey*"]
    resources = ["*"]

    principals {
      type        = "Service"
      identifiers = ["budgets.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account]
    }
  }

  statement {
    sid       = "LogGroups"
    actions   = ["kms:Decrypt", "kms:Describe*", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
    resources = ["*"]

    principals {
      type        = "Service"
      identifiers = ["logs.${local.region}.amazonaws.com"]
    }

    condition {
      test     = "ArnLike"
      variable = "kms:EncryptionContext:aws:logs:arn"
      values   = [local.any_logs]
    }
  }

  dynamic "statement" {
    for_each = local.trails

    content {
      sid       = "Trail"
      actions   = ["kms:DescribeKey", "kms:GenerateDataKey*"]
      resources = ["*"]

      principals {
        type        = "Service"
        identifiers = ["cloudtrail.amazonaws.com"]
      }

      condition {
        test     = "StringEquals"
        variable = "aws:SourceArn"
        values   = [statement.value]
      }
    }
  }
}

resource "aws_kms_key" "operations" {
  count = var.existing.operations_arn == null ? 1 : 0

  description             = "Logs, alarms and secrets of ${var.name}"
  policy                  = data.aws_iam_policy_document.operations.json
  enable_key_rotation     = true
  rotation_period_in_days = var.rotation_days
  deletion_window_in_days = var.deletion_window_days
}

resource "aws_kms_alias" "operations" {
  count = var.existing.operations_arn == null ? 1 : 0

  name          = "alias/${var.name}-operations"
  target_key_id = aws_kms_key.operations[0].key_id
}
