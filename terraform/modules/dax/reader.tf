# The role in which the gateway reads from the cluster. Its own role is denied `dax:*`, so that nothing that runs as the
# gateway reaches all tenants' rows by accident; this one reads from the cluster, and the gateway alone may assume it.

locals {
  account          = data.aws_caller_identity.current.account_id
  partition        = data.aws_partition.current.partition
  region           = data.aws_region.current.id
  reader_role_name = "${var.name}-${local.region}-reader"
  # built and not read from the role: the gateway's own documents name it
  reader_role_arn = "arn:${local.partition}:iam::${local.account}:role/${local.reader_role_name}"
  cluster_arn     = "arn:${local.partition}:dax:${local.region}:${local.account}:cache/${var.name}"
  readers         = toset(var.gateway_role_arn == null ? [] : ["gateway"])
}

data "aws_caller_identity" "current" {}

data "aws_iam_policy_document" "reader_trust" {
  for_each = local.readers

  statement {
    sid     = "GatewayOnly"
    actions = ["sts:AssumeRole"]

    principals {
      type        = "AWS"
      identifiers = [var.gateway_role_arn]
    }
  }
}

data "aws_iam_policy_document" "reader" {
  statement {
    sid       = "ReadFromTheCluster"
    actions   = ["dax:BatchGetItem", "dax:GetItem", "dax:Query"]
    resources = [local.cluster_arn]
  }

  # whatever is attached to it later
  statement {
    sid       = "NeverTheTable"
    effect    = "Deny"
    actions   = ["dynamodb:*"]
    resources = ["*"]
  }
}

resource "aws_iam_role" "reader" {
  for_each = local.readers

  name                 = local.reader_role_name
  description          = "The gateway as a reader of the DAX cluster ${var.name}, which does not keep tenants apart."
  assume_role_policy   = data.aws_iam_policy_document.reader_trust[each.key].json
  max_session_duration = 3600
}

resource "aws_iam_role_policy" "reader" {
  for_each = local.readers

  name   = "read"
  role   = aws_iam_role.reader[each.key].name
  policy = data.aws_iam_policy_document.reader.json
}

# The next apply detaches policies that were attached by hand.
resource "aws_iam_role_policies_exclusive" "reader" {
  for_each = local.readers

  role_name    = aws_iam_role.reader[each.key].name
  policy_names = [aws_iam_role_policy.reader[each.key].name]
}

resource "aws_iam_role_policy_attachments_exclusive" "reader" {
  for_each = local.readers

  role_name   = aws_iam_role.reader[each.key].name
  policy_arns = []
}
