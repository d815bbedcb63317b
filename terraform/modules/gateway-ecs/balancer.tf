resource "aws_security_group" "balancer" {
  name        = "${var.name}-balancer"
  description = "Clients of the gateway"
  vpc_id      = var.vpc_id

  tags = { Name = "${var.name}-balancer" }
}

resource "aws_vpc_security_group_ingress_rule" "clients" {
  for_each = var.client_cidrs

  security_group_id = aws_security_group.balancer.id
  description       = "Clients"
  cidr_ipv4         = each.key
  ip_protocol       = "tcp"
  from_port         = var.certificate_arn == null ? 80 : 443
  to_port           = var.certificate_arn == null ? 80 : 443
}

resource "aws_vpc_security_group_egress_rule" "balancer" {
  security_group_id            = aws_security_group.balancer.id
  description                  = "To the tasks"
  referenced_security_group_id = aws_security_group.tasks.id
  ip_protocol                  = "tcp"
  from_port                    = local.port
  to_port                      = local.port
}

resource "aws_security_group" "tasks" {
  name        = "${var.name}-tasks"
  description = "The gateway"
  vpc_id      = var.vpc_id

  tags = { Name = "${var.name}-tasks" }
}

resource "aws_vpc_security_group_ingress_rule" "tasks" {
  security_group_id            = aws_security_group.tasks.id
  description                  = "From the load balancer"
  referenced_security_group_id = aws_security_group.balancer.id
  ip_protocol                  = "tcp"
  from_port                    = local.port
  to_port                      = local.port
}

resource "aws_vpc_security_group_egress_rule" "endpoints" {
  security_group_id = aws_security_group.tasks.id
  description       = "TLS to the interface endpoints"
  cidr_ipv4         = var.internet ? "0.0.0.0/0" : var.vpc_cidr
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "gateways" {
  for_each = var.prefix_list_ids

  security_group_id = aws_security_group.tasks.id
  description       = "TLS to ${each.key}"
  prefix_list_id    = each.value
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "further" {
  for_each = var.further_egress

  security_group_id            = aws_security_group.tasks.id
  description                  = "To ${each.key}"
  referenced_security_group_id = each.value.security_group_id
  ip_protocol                  = "tcp"
  from_port                    = each.value.port
  to_port                      = each.value.port
}

resource "aws_lb" "this" {
  #checkov:skip=CKV_AWS_91:Access logs are on where access_logs_bucket is set; the gateway writes a line for each operation
  #checkov:skip=CKV2_AWS_28:A web ACL is attached where web_acl_arn is set
  #checkov:skip=CKV2_AWS_20:With a certificate there is no HTTP listener that could redirect; without one the balancer is internal
  #checkov:skip=CKV_AWS_150:Deletion protection is on unless an environment switches it off
  name                       = var.name
  load_balancer_type         = "application"
  internal                   = var.internal
  subnets                    = var.load_balancer_subnet_ids
  security_groups            = [aws_security_group.balancer.id]
  drop_invalid_header_fields = true
  desync_mitigation_mode     = "strictest"
  enable_deletion_protection = var.deletion_protection
  # shorter than the gateway keeps a connection (75 s), so that the balancer never writes into a closed one
  idle_timeout = 60

  dynamic "access_logs" {
    for_each = var.access_logs_bucket == null ? [] : [var.access_logs_bucket]

    content {
      bucket  = access_logs.value
      prefix  = var.name
      enabled = true
    }
  }

  lifecycle {
    precondition {
      condition     = var.internal || var.certificate_arn != null
      error_message = "Tokens must not cross the internet in the clear: set certificate_arn, or internal = true."
    }
  }
}

resource "aws_lb_target_group" "this" {
  #checkov:skip=CKV_AWS_378:TLS ends at the load balancer; between it and the tasks lies a security group inside the VPC
  name                 = var.name
  vpc_id               = var.vpc_id
  target_type          = "ip"
  protocol             = "HTTP"
  port                 = local.port
  deregistration_delay = var.stop_seconds

  health_check {
    path                = "/readyz"
    matcher             = "200"
    interval            = 10
    timeout             = 5
    healthy_threshold   = 2
    unhealthy_threshold = 2
  }
}

resource "aws_lb_listener" "https" {
  count = var.certificate_arn == null ? 0 : 1

  load_balancer_arn = aws_lb.this.arn
  port              = 443
  protocol          = "HTTPS"
  ssl_policy        = "ELBSecurityPolicy-TLS13-1-2-2021-06"
  certificate_arn   = var.certificate_arn

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this.arn
  }
}

resource "aws_lb_listener" "http" {
  #checkov:skip=CKV_AWS_2:Only where there is no certificate, and then only inside the VPC
  #checkov:skip=CKV_AWS_103:As above
  count = var.certificate_arn == null ? 1 : 0

  load_balancer_arn = aws_lb.this.arn
  port              = 80
  protocol          = "HTTP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.this.arn
  }
}

resource "aws_wafv2_web_acl_association" "this" {
  count = var.web_acl_arn == null ? 0 : 1

  resource_arn = aws_lb.this.arn
  web_acl_arn  = var.web_acl_arn
}
