# A read cache for programs that work on all tenants, such as reports, and for the gateway if that is requested. It
# cannot keep tenants apart: DAX answers with the rights of its own role. So it is off by default, has to be acknowledged,
# and reads only.

locals {
  port = 9111
}

data "aws_partition" "current" {}

data "aws_region" "current" {}

# DAX is not documented to send aws:SourceAccount here: with a condition on it the cluster might reach no table.
data "aws_iam_policy_document" "trust" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["dax.amazonaws.com"]
    }
  }
}

data "aws_iam_policy_document" "reads" {
  statement {
    sid       = "Reads"
    actions   = ["dynamodb:BatchGetItem", "dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:Query"]
    resources = concat([var.table_arn], [for name in var.index_names : "${var.table_arn}/index/${name}"])
  }

  # DynamoDB decrypts the table's key on behalf of the reader, which is the cluster
  dynamic "statement" {
    for_each = var.kms_key_arn == null ? [] : [var.kms_key_arn]

    content {
      sid       = "TableKey"
      actions   = ["kms:Decrypt"]
      resources = [statement.value]

      condition {
        test     = "StringEquals"
        variable = "kms:ViaService"
        values   = ["dynamodb.${data.aws_region.current.id}.${data.aws_partition.current.dns_suffix}"]
      }

      condition {
        test     = "StringEquals"
        variable = "kms:EncryptionContext:aws:dynamodb:tableName"
        values   = [split("/", var.table_arn)[1]]
      }
    }
  }
}

resource "aws_iam_role" "this" {
  name               = "${var.name}-${local.region}-dax"
  description        = "The DAX cluster ${var.name}: reads all tenants' rows."
  assume_role_policy = data.aws_iam_policy_document.trust.json
}

resource "aws_iam_role_policy" "reads" {
  name   = "reads"
  role   = aws_iam_role.this.name
  policy = data.aws_iam_policy_document.reads.json
}

resource "aws_security_group" "this" {
  #checkov:skip=CKV2_AWS_5:It is attached to the cluster below
  name        = "${var.name}-dax"
  description = "Clients of the DAX cluster ${var.name}"
  vpc_id      = var.vpc_id

  tags = { Name = "${var.name}-dax" }
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = var.client_security_group_ids

  security_group_id            = aws_security_group.this.id
  description                  = "DAX over TLS from ${each.key}"
  referenced_security_group_id = each.value
  ip_protocol                  = "tcp"
  from_port                    = local.port
  to_port                      = local.port
}

resource "aws_dax_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.subnet_ids
}

resource "aws_dax_parameter_group" "this" {
  name = var.name

  parameters {
    name  = "record-ttl-millis"
    value = var.item_ttl_seconds * 1000
  }

  parameters {
    name  = "query-ttl-millis"
    value = var.query_ttl_seconds * 1000
  }
}

resource "aws_dax_cluster" "this" {
  cluster_name                     = var.name
  iam_role_arn                     = aws_iam_role.this.arn
  node_type                        = var.node_type
  replication_factor               = var.nodes
  subnet_group_name                = aws_dax_subnet_group.this.name
  parameter_group_name             = aws_dax_parameter_group.this.name
  security_group_ids               = [aws_security_group.this.id]
  cluster_endpoint_encryption_type = "TLS"

  server_side_encryption {
    enabled = true
  }

  lifecycle {
    precondition {
      condition     = var.accept_no_tenant_isolation
      error_message = "DAX does not isolate tenants: every client of the cluster reads every tenant's rows. Set accept_no_tenant_isolation = true only for programs that may."
    }
  }

  # the cluster looks at its tables as soon as it is there
  depends_on = [aws_iam_role_policy.reads]
}
