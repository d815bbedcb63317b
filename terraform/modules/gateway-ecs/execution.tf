# What starts a task: another role than the gateway's, because it reads the image and the secret.

# made at AWS and never written to state or plan
ephemeral "aws_secretsmanager_random_password" "cursor" {
  password_length     = 64
  exclude_punctuation = true
}

resource "aws_secretsmanager_secret" "cursor" {
  #checkov:skip=CKV2_AWS_57:A rotation refuses the cursors that clients hold; raise cursor_secret_version instead
  name_prefix = "${var.name}-cursor-"
  description = "Encrypts the cursors of ${var.name}"
  kms_key_id  = var.kms_key_arn
}

resource "aws_secretsmanager_secret_version" "cursor" {
  secret_id                = aws_secretsmanager_secret.cursor.id
  secret_string_wo         = ephemeral.aws_secretsmanager_random_password.cursor.random_password
  secret_string_wo_version = var.cursor_secret_version
}

data "aws_iam_policy_document" "execution_trust" {
  statement {
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

data "aws_iam_policy_document" "execution" {
  statement {
    sid       = "Secret"
    actions   = ["secretsmanager:GetSecretValue"]
    resources = concat([aws_secretsmanager_secret.cursor.arn], local.bus_secrets, local.stream_secrets)
  }

  statement {
    sid       = "SecretKey"
    actions   = ["kms:Decrypt"]
    resources = [var.kms_key_arn]

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["secretsmanager.${local.region}.amazonaws.com"]
    }
  }

  statement {
    sid       = "Log"
    actions   = ["logs:CreateLogStream", "logs:PutLogEvents"]
    resources = ["${var.log_group_arn}:*"]
  }

  dynamic "statement" {
    for_each = var.repository_arn == null ? [] : [var.repository_arn]

    content {
      sid       = "Image"
      actions   = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
      resources = [statement.value]
    }
  }

  statement {
    #checkov:skip=CKV_AWS_356:ECR gives a token for the registry as a whole
    sid       = "Registry"
    actions   = ["ecr:GetAuthorizationToken"]
    resources = ["*"]
  }
}

resource "aws_iam_role" "execution" {
  name               = "${var.name}-${local.region}-execution"
  description        = "Starts the gateway's tasks: image, log, secret."
  assume_role_policy = data.aws_iam_policy_document.execution_trust.json
}

resource "aws_iam_role_policy" "execution" {
  name   = "start"
  role   = aws_iam_role.execution.name
  policy = data.aws_iam_policy_document.execution.json
}
