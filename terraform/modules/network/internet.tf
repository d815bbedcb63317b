# Optional: public subnets for a load balancer, and NAT for token issuers that are on the internet.

resource "aws_internet_gateway" "this" {
  count = local.public ? 1 : 0

  vpc_id = aws_vpc.this[0].id

  tags = { Name = var.name }
}

resource "aws_subnet" "public" {
  for_each = toset([for zone in local.zones : zone if local.public])

  vpc_id            = aws_vpc.this[0].id
  availability_zone = each.key
  cidr_block        = cidrsubnet(var.create.cidr, 4, 8 + index(local.zones, each.key))

  tags = { Name = "${var.name}-public-${each.key}" }
}

resource "aws_route_table" "public" {
  count = local.public ? 1 : 0

  vpc_id = aws_vpc.this[0].id

  tags = { Name = "${var.name}-public" }
}

resource "aws_route" "public" {
  count = local.public ? 1 : 0

  route_table_id         = aws_route_table.public[0].id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.this[0].id
}

resource "aws_route_table_association" "public" {
  for_each = aws_subnet.public

  subnet_id      = each.value.id
  route_table_id = aws_route_table.public[0].id
}

resource "aws_eip" "nat" {
  #checkov:skip=CKV2_AWS_19:It is the address of a NAT gateway
  for_each = toset(local.nats)

  domain = "vpc"

  tags = { Name = "${var.name}-nat-${each.key}" }
}

resource "aws_nat_gateway" "this" {
  for_each = toset(local.nats)

  allocation_id = aws_eip.nat[each.key].id
  subnet_id     = aws_subnet.public[each.key].id

  tags = { Name = "${var.name}-${each.key}" }

  depends_on = [aws_internet_gateway.this]
}

resource "aws_route" "nat" {
  for_each = toset([for zone in local.zones : zone if length(local.nats) > 0])

  route_table_id         = aws_route_table.private[each.key].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.this[contains(local.nats, each.key) ? each.key : local.nats[0]].id
}
