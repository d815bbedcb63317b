output "vpc_id" {
  description = "The VPC."
  value       = local.vpc_id
}

output "cidr" {
  description = "Addresses of the VPC."
  value       = local.cidr
}

output "private_subnet_ids" {
  description = "Subnets for the gateway."
  value       = local.private_subnet_ids
}

output "public_subnet_ids" {
  description = "Subnets for a load balancer that faces the internet."
  value       = local.public_subnet_ids
}

output "internet" {
  description = "Whether the private subnets reach the internet, where most token issuers publish their keys."
  value       = local.internet
}

output "dynamodb_endpoint_id" {
  description = "Gateway endpoint for DynamoDB."
  value       = try(local.endpoint_ids["dynamodb"], aws_vpc_endpoint.dynamodb[0].id)
}

output "prefix_list_ids" {
  description = "Address lists of the gateway endpoints, for security groups."
  value = merge(
    { for endpoint in aws_vpc_endpoint.dynamodb : "dynamodb" => endpoint.prefix_list_id },
    { for endpoint in aws_vpc_endpoint.s3 : "s3" => endpoint.prefix_list_id },
    { for service, endpoint in data.aws_vpc_endpoint.existing : service => endpoint.prefix_list_id },
  )
}
