# The ARNs are those that the documents name, so that a plan shows the policies that use them; they exist with the roles.

output "gateway_role_arn" {
  description = "Role that the gateway runs in."
  value       = local.gateway_role_arn
  depends_on  = [aws_iam_role.gateway, aws_iam_role_policy.gateway]
}

output "gateway_role_name" {
  description = "Name of the role that the gateway runs in."
  value       = aws_iam_role.gateway.name
}

output "tenant_role_arn" {
  description = "Role that the gateway assumes for a tenant."
  value       = local.tenant_role_arn
  depends_on  = [aws_iam_role.tenant, aws_iam_role_policy.tenant]
}

output "tenant_role_name" {
  description = "Name of the role that the gateway assumes for a tenant."
  value       = aws_iam_role.tenant.name
}

output "stream_role_arn" {
  description = "Role that reads the table's stream; null if there is none."
  value       = var.stream_role ? local.stream_role_arn : null
  depends_on  = [aws_iam_role.stream, aws_iam_role_policy.stream]
}

output "stream_role_name" {
  description = "Name of that role."
  value       = one(aws_iam_role.stream[*].name)
}

output "boundary_arn" {
  description = "Boundary of the tenants' role."
  value       = local.boundary_arn
  depends_on  = [aws_iam_policy.boundary]
}

output "dynamodb_endpoint_policy" {
  description = "Policy for a VPC's gateway endpoint for DynamoDB, from `policies/vpc-endpoint.json`; once more for each of `further_tenant_role_arns`, and for the role that reads the stream."
  value       = jsonencode(merge(jsondecode(local.rendered["vpc-endpoint"]), { Statement = concat(local.endpoint_statements, local.stream_statements) }))
}

output "s3_endpoint_statements" {
  description = "Statements for a VPC's gateway endpoint for S3 as JSON, from `policies/vpc-endpoint-files.json`; an empty list for a model without files."
  value       = jsonencode(flatten([for name in local.of_files : jsondecode(local.documents[name]).Statement]))
}

output "sts_endpoint_policy" {
  description = "Policy for a VPC's interface endpoint for STS: the allowing statements of the gateway's role, for that role alone."
  value = jsonencode({
    Version = "2012-10-17"
    Statement = [
      for statement in flatten([for policy in concat(values(aws_iam_role_policy.gateway), values(aws_iam_role_policy.dax_readers)) : jsondecode(policy.policy).Statement]) :
      merge(statement, { Sid = "Gateway${substr(sha256(jsonencode(statement.Resource)), 0, 8)}", Principal = { AWS = local.gateway_role_arn } })
      if statement.Effect == "Allow"
    ]
  })
}
