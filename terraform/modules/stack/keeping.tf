# What not everybody needs: copies beyond point-in-time recovery, and a budget.

resource "aws_backup_vault" "this" {
  count = module.input.backup == null ? 0 : 1

  name        = var.name
  kms_key_arn = module.kms.operations_key_arn
}

resource "aws_backup_plan" "this" {
  count = module.input.backup == null ? 0 : 1

  name = var.name

  rule {
    rule_name         = "table"
    target_vault_name = aws_backup_vault.this[0].name
    schedule          = module.input.backup.schedule

    lifecycle {
      delete_after = module.input.backup.keep_days
    }

    dynamic "copy_action" {
      for_each = module.input.backup.copy_to_vault == null ? [] : [module.input.backup.copy_to_vault]

      content {
        destination_vault_arn = copy_action.value

        lifecycle {
          delete_after = module.input.backup.copied_keep_days
        }
      }
    }
  }
}

data "aws_partition" "current" {}

# AWS Backup is not documented to send aws:SourceAccount here: a condition on it might leave the vault empty.
data "aws_iam_policy_document" "backup_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["backup.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "backup" {
  count = module.input.backup == null ? 0 : 1

  name               = "${var.name}-${data.aws_region.current.id}-backup"
  assume_role_policy = data.aws_iam_policy_document.backup_trust.json
}

resource "aws_iam_role_policy_attachment" "backup" {
  for_each = toset([for name in ["Backup", "Restores"] : name if module.input.backup != null])

  role       = aws_iam_role.backup[0].name
  policy_arn = "arn:${data.aws_partition.current.partition}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyFor${each.key}"
}

resource "aws_backup_selection" "this" {
  count = module.input.backup == null ? 0 : 1

  name         = "table"
  plan_id      = aws_backup_plan.this[0].id
  iam_role_arn = aws_iam_role.backup[0].arn
  resources    = [module.table.arn]
}

resource "aws_budgets_budget" "this" {
  count = module.input.budget == null ? 0 : 1

  name         = "${var.name}-${data.aws_region.current.id}"
  budget_type  = "COST"
  limit_amount = format("%.1f", module.input.budget.monthly_usd)
  limit_unit   = "USD"
  time_unit    = "MONTHLY"

  dynamic "notification" {
    for_each = { ACTUAL = 80, FORECASTED = 100 }

    content {
      notification_type         = notification.key
      comparison_operator       = "GREATER_THAN"
      threshold                 = notification.value
      threshold_type            = "PERCENTAGE"
      subscriber_sns_topic_arns = [module.observability.notice_topic_arn]
    }
  }
}
