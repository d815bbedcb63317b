# The bucket of the files that tenants upload: below a prefix for each tenant, which the session's tag has to match.

locals {
  # built and not read from the bucket, so that a plan shows the policy
  arn = "arn:${data.aws_partition.current.partition}:s3:::${var.bucket_name}"
}

data "aws_partition" "current" {}

resource "aws_s3_bucket" "this" {
  #checkov:skip=CKV_AWS_18:CloudTrail records who reads and writes objects, where its data events are on
  #checkov:skip=CKV_AWS_144:One region; copy it to another account where your rules ask for that
  #checkov:skip=CKV_AWS_145:Keys of S3: with a key of the account, every tenant's session would need rights on it
  #checkov:skip=CKV2_AWS_62:Nothing waits for new files
  bucket        = var.bucket_name
  force_destroy = var.force_destroy
}

# what the lifecycle removes can be fetched back for some days
resource "aws_s3_bucket_versioning" "this" {
  bucket = aws_s3_bucket.this.bucket

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "this" {
  bucket = aws_s3_bucket.this.bucket

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

resource "aws_s3_bucket_ownership_controls" "this" {
  bucket = aws_s3_bucket.this.bucket

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_public_access_block" "this" {
  bucket = aws_s3_bucket.this.bucket

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_lifecycle_configuration" "this" {
  bucket = aws_s3_bucket.this.bucket

  # the gateway tags what no item refers to: uploads that were not taken, and files that were replaced or removed
  rule {
    id     = "unused"
    status = "Enabled"

    filter {
      tag {
        key   = "state"
        value = "unused"
      }
    }

    expiration {
      days = 1
    }
  }

  rule {
    id     = "removed"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = var.recovery_days
    }

    expiration {
      expired_object_delete_marker = true
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }
  }

  depends_on = [aws_s3_bucket_versioning.this]
}

resource "aws_s3_bucket_cors_configuration" "this" {
  count = length(var.cors_origins) > 0 ? 1 : 0

  bucket = aws_s3_bucket.this.bucket

  cors_rule {
    allowed_methods = ["GET", "PUT"]
    allowed_origins = sort(var.cors_origins)
    allowed_headers = ["content-type", "if-none-match", "x-amz-checksum-sha256", "x-amz-tagging"]
    max_age_seconds = 600
  }
}

data "aws_iam_policy_document" "bucket" {
  statement {
    sid       = "OnlyByTLS"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [local.arn, "${local.arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }

  # once more beside the policies of the role: nothing that is attached to it opens the files of another tenant
  statement {
    sid           = "OnlyOwnPrefix"
    effect        = "Deny"
    actions       = ["s3:*"]
    not_resources = ["${local.arn}/$${aws:PrincipalTag/TenantId}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "ArnEquals"
      variable = "aws:PrincipalArn"
      values   = sort(var.tenant_role_arns)
    }
  }

  statement {
    sid       = "OnlyTenants"
    effect    = "Deny"
    actions   = ["s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"]
    resources = ["${local.arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "ArnNotEquals"
      variable = "aws:PrincipalArn"
      values   = sort(setunion(var.tenant_role_arns, var.operator_role_arns))
    }
  }
}

resource "aws_s3_bucket_policy" "this" {
  bucket = aws_s3_bucket.this.bucket
  policy = data.aws_iam_policy_document.bucket.json

  depends_on = [aws_s3_bucket_public_access_block.this]
}
