# The way to DynamoDB that does not leave AWS, with a policy on its door; and a small VPC for those who bring none.

locals {
  region  = data.aws_region.current.id
  account = data.aws_caller_identity.current.account_id

  made      = var.existing == null
  available = flatten(data.aws_availability_zones.here[*].names)
  zones     = local.made ? slice(local.available, 0, min(var.create.zones, length(local.available))) : []
  public    = local.made && (try(var.create.public, false) || try(var.create.nat, "none") != "none")
  nats      = { none = [], single = slice(local.zones, 0, min(1, length(local.zones))), per_zone = local.zones }[try(var.create.nat, "none")]

  vpc_id             = local.made ? aws_vpc.this[0].id : var.existing.vpc_id
  cidr               = local.made ? var.create.cidr : var.existing.cidr
  private_subnet_ids = local.made ? [for zone in local.zones : aws_subnet.private[zone].id] : var.existing.private_subnet_ids
  public_subnet_ids  = local.made ? [for zone in local.zones : aws_subnet.public[zone].id if local.public] : var.existing.public_subnet_ids
  route_table_ids    = local.made ? [for zone in local.zones : aws_route_table.private[zone].id] : var.existing.route_table_ids
  endpoint_ids       = local.made ? {} : { for service, id in var.existing.endpoint_ids : service => id if id != null }
  images             = contains(var.interface_endpoints, "ecr.dkr")
  internet           = local.made ? length(local.nats) > 0 : var.existing.internet

  # no credentials of another account pass: a stolen key cannot carry data out through these doors
  own_account = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OwnAccount"
      Effect    = "Allow"
      Principal = "*"
      Action    = "*"
      Resource  = "*"
      Condition = { StringEquals = { "aws:PrincipalAccount" = local.account } }
    }]
  })
}

data "aws_region" "current" {}

data "aws_partition" "current" {}

data "aws_caller_identity" "current" {}

data "aws_availability_zones" "here" {
  #checkov:skip=CKV_AWS_394:The first `create.zones` by name are used; a new zone comes last and changes nothing
  count = local.made ? 1 : 0

  state = "available"

  filter {
    name   = "opt-in-status"
    values = ["opt-in-not-required"]
  }
}

resource "aws_vpc" "this" {
  #checkov:skip=CKV2_AWS_11:Flow logs are on where `flow_logs` is set; envs/prod sets it
  count = local.made ? 1 : 0

  cidr_block           = var.create.cidr
  enable_dns_support   = true
  enable_dns_hostnames = true

  tags = { Name = var.name }

  lifecycle {
    precondition {
      condition     = var.create.zones <= length(local.available)
      error_message = "`create.zones` asks for ${var.create.zones} zones, and ${local.region} has ${length(local.available)} that are open to every account."
    }
  }
}

# closed: what runs here names its own group
resource "aws_default_security_group" "this" {
  count = local.made ? 1 : 0

  vpc_id = aws_vpc.this[0].id
}

resource "aws_subnet" "private" {
  for_each = toset(local.zones)

  vpc_id            = aws_vpc.this[0].id
  availability_zone = each.key
  cidr_block        = cidrsubnet(var.create.cidr, 4, index(local.zones, each.key))

  tags = { Name = "${var.name}-private-${each.key}" }
}

resource "aws_route_table" "private" {
  for_each = toset(local.zones)

  vpc_id = aws_vpc.this[0].id

  tags = { Name = "${var.name}-private-${each.key}" }
}

resource "aws_route_table_association" "private" {
  for_each = toset(local.zones)

  subnet_id      = aws_subnet.private[each.key].id
  route_table_id = aws_route_table.private[each.key].id
}

# the gateway endpoints that the VPC has already; their policies are their owner's
data "aws_vpc_endpoint" "existing" {
  for_each = local.endpoint_ids

  id = each.value

  lifecycle {
    postcondition {
      condition     = self.vpc_id == var.existing.vpc_id && self.vpc_endpoint_type == "Gateway" && endswith(self.service_name, ".${each.key}")
      error_message = "${each.value} is no gateway endpoint of ${var.existing.vpc_id} for ${each.key}."
    }
  }
}

resource "aws_vpc_endpoint" "dynamodb" {
  count = contains(keys(local.endpoint_ids), "dynamodb") ? 0 : 1

  vpc_id            = local.vpc_id
  vpc_endpoint_type = "Gateway"
  service_name      = "com.amazonaws.${local.region}.dynamodb"
  route_table_ids   = local.route_table_ids
  policy            = var.dynamodb_endpoint_policy

  tags = { Name = "${var.name}-dynamodb" }
}

# layers of container images lie in a bucket of ECR, files in one of the environment's own
resource "aws_vpc_endpoint" "s3" {
  count = (local.images || var.s3_endpoint_statements != "[]") && !contains(keys(local.endpoint_ids), "s3") ? 1 : 0

  vpc_id            = local.vpc_id
  vpc_endpoint_type = "Gateway"
  service_name      = "com.amazonaws.${local.region}.s3"
  route_table_ids   = local.route_table_ids
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([for layers in local.images ? ["ImageLayers"] : [] : {
      Sid       = layers
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:${data.aws_partition.current.partition}:s3:::prod-${local.region}-starport-layer-bucket/*"
    }], jsondecode(var.s3_endpoint_statements))
  })

  tags = { Name = "${var.name}-s3" }
}

resource "aws_security_group" "endpoints" {
  #checkov:skip=CKV2_AWS_5:It is attached to the interface endpoints below
  count = length(var.interface_endpoints) > 0 ? 1 : 0

  name        = "${var.name}-endpoints"
  description = "TLS from inside the VPC to the interface endpoints"
  vpc_id      = local.vpc_id

  tags = { Name = "${var.name}-endpoints" }
}

resource "aws_vpc_security_group_ingress_rule" "endpoints" {
  count = length(var.interface_endpoints) > 0 ? 1 : 0

  security_group_id = aws_security_group.endpoints[0].id
  description       = "TLS from inside the VPC"
  cidr_ipv4         = local.cidr
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_endpoint" "interface" {
  for_each = var.interface_endpoints

  vpc_id              = local.vpc_id
  vpc_endpoint_type   = "Interface"
  service_name        = "com.amazonaws.${local.region}.${each.key}"
  subnet_ids          = local.private_subnet_ids
  security_group_ids  = [aws_security_group.endpoints[0].id]
  private_dns_enabled = true
  policy              = each.key == "sts" ? var.sts_endpoint_policy : local.own_account

  tags = { Name = "${var.name}-${each.key}" }
}
