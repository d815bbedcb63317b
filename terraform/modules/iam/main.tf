# The gateway's role, which can do nothing but assume the tenants' role, and the tenants' role with its boundary.
# Every document comes from `policies/`, which the model writes; here only its tokens are replaced.

locals {
  partition = data.aws_partition.current.partition
  region    = data.aws_region.current.id
  account   = data.aws_caller_identity.current.account_id

  # built and not read from the roles: each role's document names the other role. With the region, because roles are
  # the account's: a second region may have an environment of the same name.
  gateway_role_name = "${var.name}-${local.region}-gateway"
  tenant_role_name  = "${var.name}-${local.region}-tenant"
  gateway_role_arn  = "arn:${local.partition}:iam::${local.account}:role/${local.gateway_role_name}"
  tenant_role_arn   = "arn:${local.partition}:iam::${local.account}:role/${local.tenant_role_name}"
  stream_role_name  = "${var.name}-${local.region}-stream"
  stream_role_arn   = "arn:${local.partition}:iam::${local.account}:role/${local.stream_role_name}"
  boundary_name     = "${local.tenant_role_name}-boundary"
  boundary_arn      = "arn:${local.partition}:iam::${local.account}:policy/${local.boundary_name}"

  directory = coalesce(var.policies_dir, "${path.module}/../../../policies")
  # of a model with files only
  of_files = fileexists("${local.directory}/vpc-endpoint-files.json") ? ["vpc-endpoint-files"] : []
  # if the table's stream is read
  of_stream = var.stream_role ? ["stream-role"] : []
  texts = {
    for name in concat(["tenant-role", "tenant-trust", "boundary", "gateway-role", "vpc-endpoint"], local.of_files, local.of_stream) :
    name => replace(replace(replace(replace(replace(replace(
      file("${local.directory}/${name}.json"),
      "<bucket>", coalesce(var.bucket_name, "<bucket>")),
      "<partition>", local.partition),
      "<region>", local.region),
      "<account>", local.account),
      "<table>", var.table_name),
    "<gateway-role-arn>", local.gateway_role_arn)
  }
  rendered  = { for name, text in local.texts : name => replace(text, "<tenant-role-arn>", local.tenant_role_arn) }
  documents = { for name, text in local.rendered : name => jsonencode(jsondecode(text)) }

  # the gateway's document once for each role that it may assume
  assumable = merge(
    { (local.tenant_role_name) = local.tenant_role_arn },
    { for arn in var.further_tenant_role_arns : "${local.tenant_role_name}-${substr(sha256(arn), 0, 12)}" => arn },
  )

  # a silo's table lies behind the same door: its role passes too, and its own policies say to which table of its account
  endpoint_statements = concat(
    jsondecode(local.rendered["vpc-endpoint"]).Statement,
    flatten([
      for arn in sort(var.further_tenant_role_arns) : [
        for statement in jsondecode(replace(local.texts["vpc-endpoint"], "<tenant-role-arn>", arn)).Statement :
        merge(statement, {
          Sid      = "Silo${substr(sha256(arn), 0, 12)}"
          Resource = ["arn:${local.partition}:dynamodb:${local.region}:${split(":", arn)[4]}:table/*"]
        })
      ]
    ]),
  )

  # the reader keeps its leases in the table, and nothing else of it passes for its role
  stream_statements = flatten([for name in local.of_stream : [
    for statement in jsondecode(local.rendered[name]).Statement : {
      Sid       = "Stream${statement.Sid}"
      Effect    = "Allow"
      Principal = "*"
      Action    = [for action in flatten([try(statement.Action, [])]) : action if startswith(action, "dynamodb:")]
      Resource  = statement.Resource
      Condition = merge(try(statement.Condition, {}), { ArnEquals = { "aws:PrincipalArn" = local.stream_role_arn } })
    } if statement.Effect == "Allow" && length([for action in flatten([try(statement.Action, [])]) : action if startswith(action, "dynamodb:")]) > 0
  ]])

  dax_policies = toset(length(var.dax_reader_role_arns) > 0 ? ["dax-readers"] : [])

  # looked for in the text: jsonencode writes `<` as an escape
  left_over = distinct(flatten([for text in values(local.rendered) : regexall("<[a-z-]+>", text)]))
}

# elsewhere, such as in China, endpoints and services have other names, in the documents of `policies/` too
data "aws_partition" "current" {
  lifecycle {
    postcondition {
      condition     = contains(["aws", "aws-us-gov"], self.partition)
      error_message = "These modules are for the partitions aws and aws-us-gov, and not for ${self.partition}: endpoints and services have other names there."
    }
  }
}

data "aws_region" "current" {}

data "aws_caller_identity" "current" {}

data "aws_iam_policy_document" "gateway_trust" {
  statement {
    sid     = "Platform"
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = var.gateway_services
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account]
    }
  }

  dynamic "statement" {
    for_each = length(var.gateway_principals) > 0 ? [var.gateway_principals] : []

    content {
      sid     = "Named"
      actions = ["sts:AssumeRole"]

      principals {
        type        = "AWS"
        identifiers = statement.value
      }
    }
  }
}

resource "aws_iam_role" "gateway" {
  name                 = local.gateway_role_name
  description          = "The gateway itself: assumes the tenants' role, reaches no data."
  assume_role_policy   = data.aws_iam_policy_document.gateway_trust.json
  max_session_duration = 3600
}

resource "aws_iam_role_policy" "gateway" {
  for_each = local.assumable

  name   = each.key
  role   = aws_iam_role.gateway.name
  policy = jsonencode(jsondecode(replace(local.texts["gateway-role"], "<tenant-role-arn>", each.value)))

  lifecycle {
    precondition {
      condition     = length(local.left_over) == 0
      error_message = "Nothing is known for ${join(", ", local.left_over)} in the documents of ${local.directory}."
    }
  }
}

# DAX knows no tenants: its cluster is read in a role of its own, never in the gateway's, which is denied `dax:*`.
data "aws_iam_policy_document" "dax_readers" {
  statement {
    sid       = "AssumeDaxReader"
    actions   = ["sts:AssumeRole"]
    resources = sort(var.dax_reader_role_arns)
  }
}

resource "aws_iam_role_policy" "dax_readers" {
  for_each = local.dax_policies

  name   = each.key
  role   = aws_iam_role.gateway.name
  policy = data.aws_iam_policy_document.dax_readers.json
}

# The stream contains the rows of all tenants: a separate role, for tasks only, which no one else can assume.
data "aws_iam_policy_document" "stream_trust" {
  statement {
    sid     = "Platform"
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ecs-tasks.amazonaws.com"]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.account]
    }
  }
}

resource "aws_iam_role" "stream" {
  count = var.stream_role ? 1 : 0

  name                 = local.stream_role_name
  description          = "Reads the stream of ${var.table_name}, and keeps its leases in the table."
  assume_role_policy   = data.aws_iam_policy_document.stream_trust.json
  max_session_duration = 3600
}

resource "aws_iam_role_policy" "stream" {
  count = var.stream_role ? 1 : 0

  name   = "stream"
  role   = aws_iam_role.stream[0].name
  policy = local.documents["stream-role"]
}

resource "aws_iam_policy" "boundary" {
  name        = local.boundary_name
  description = "The most that a tenant's session can ever do."
  policy      = local.documents["boundary"]
}

resource "aws_iam_role" "tenant" {
  name                 = local.tenant_role_name
  description          = "A tenant's session: its own rows of ${var.table_name}, by the tag TenantId."
  assume_role_policy   = local.documents["tenant-trust"]
  permissions_boundary = aws_iam_policy.boundary.arn
  # a session that is assumed from a role ends after an hour, whatever stands here
  max_session_duration = 3600

  # the trust policy names the gateway's role, and IAM takes only principals that exist
  depends_on = [aws_iam_role.gateway]
}

resource "aws_iam_role_policy" "tenant" {
  name   = "own-rows"
  role   = aws_iam_role.tenant.name
  policy = local.documents["tenant-role"]
}

data "aws_iam_policy_document" "revoked" {
  dynamic "statement" {
    for_each = var.revoke_sessions.all_before == null ? [] : [var.revoke_sessions.all_before]

    content {
      sid       = "EverySessionBefore"
      effect    = "Deny"
      actions   = ["*"]
      resources = ["*"]

      condition {
        test     = "DateLessThan"
        variable = "aws:TokenIssueTime"
        values   = [statement.value]
      }
    }
  }

  dynamic "statement" {
    for_each = var.revoke_sessions.tenants

    content {
      effect    = "Deny"
      actions   = ["*"]
      resources = ["*"]

      condition {
        test     = "StringEquals"
        variable = "aws:PrincipalTag/TenantId"
        values   = [statement.key]
      }

      condition {
        test     = "DateLessThan"
        variable = "aws:TokenIssueTime"
        values   = [statement.value]
      }
    }
  }
}

locals {
  # the name that the console's button "Revoke active sessions" uses
  revocations = toset([for name in ["AWSRevokeOlderSessions"] : name if var.revoke_sessions.all_before != null || length(var.revoke_sessions.tenants) > 0])
}

resource "aws_iam_role_policy" "revoked" {
  for_each = local.revocations

  name   = each.key
  role   = aws_iam_role.tenant.name
  policy = data.aws_iam_policy_document.revoked.json
}

# The next apply detaches policies that were attached to either role by hand.
resource "aws_iam_role_policies_exclusive" "this" {
  for_each = merge(
    {
      (aws_iam_role.gateway.name) = concat(keys(local.assumable), tolist(local.dax_policies))
      (aws_iam_role.tenant.name)  = concat([aws_iam_role_policy.tenant.name], tolist(local.revocations))
    },
    { for role in aws_iam_role.stream : role.name => ["stream"] },
  )

  role_name    = each.key
  policy_names = each.value

  depends_on = [aws_iam_role_policy.gateway, aws_iam_role_policy.dax_readers, aws_iam_role_policy.revoked, aws_iam_role_policy.stream]
}

resource "aws_iam_role_policy_attachments_exclusive" "this" {
  for_each = toset(concat([aws_iam_role.gateway.name, aws_iam_role.tenant.name], aws_iam_role.stream[*].name))

  role_name   = each.key
  policy_arns = []
}
