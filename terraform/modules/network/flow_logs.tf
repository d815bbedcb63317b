locals {
  flow_logs = toset([for name in ["/vpc/${var.name}"] : name if local.made && var.flow_logs != null])
}

resource "aws_cloudwatch_log_group" "flow" {
  #checkov:skip=CKV_AWS_338:The operator decides how long; the default is a year
  for_each = local.flow_logs

  name              = each.key
  retention_in_days = var.flow_logs.days
  kms_key_id        = var.flow_logs.kms_key_arn
}

data "aws_iam_policy_document" "flow_trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["vpc-flow-logs.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account]
    }
  }
}

data "aws_iam_policy_document" "flow" {
  for_each = local.flow_logs

  statement {
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"]
    resources = ["${aws_cloudwatch_log_group.flow[each.key].arn}:*"]
  }
}

resource "aws_iam_role" "flow" {
  for_each = local.flow_logs

  name               = "${var.name}-${local.region}-flow-logs"
  assume_role_policy = data.aws_iam_policy_document.flow_trust.json
}

resource "aws_iam_role_policy" "flow" {
  for_each = local.flow_logs

  name   = "write"
  role   = aws_iam_role.flow[each.key].name
  policy = data.aws_iam_policy_document.flow[each.key].json
}

resource "aws_flow_log" "this" {
  for_each = local.flow_logs

  vpc_id          = aws_vpc.this[0].id
  traffic_type    = "ALL"
  log_destination = aws_cloudwatch_log_group.flow[each.key].arn
  iam_role_arn    = aws_iam_role.flow[each.key].arn
}
