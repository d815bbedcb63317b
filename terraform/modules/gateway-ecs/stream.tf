# `gateway stream` as a second service: the same image, another role, no load balancer, no inbound connections.

locals {
  streams        = { for name, stream in { stream = var.stream } : name => stream if stream != null }
  stream_secrets = compact([try(var.stream.password_secret_arn, null)])
  # to the servers of the bus, from all its clients
  to_bus = var.bus == null ? {} : merge({ tasks = aws_security_group.tasks.id }, { for name in keys(local.streams) : name => aws_security_group.stream[name].id })
}

resource "aws_security_group" "stream" {
  for_each = local.streams

  name        = "${var.name}-stream"
  description = "Reads the table's stream"
  vpc_id      = var.vpc_id

  tags = { Name = "${var.name}-stream" }
}

resource "aws_vpc_security_group_egress_rule" "stream" {
  for_each = local.streams

  security_group_id = aws_security_group.stream[each.key].id
  description       = "TLS to AWS"
  cidr_ipv4         = var.internet ? "0.0.0.0/0" : var.vpc_cidr
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "stream_gateways" {
  for_each = length(local.streams) == 0 ? {} : var.prefix_list_ids

  security_group_id = aws_security_group.stream["stream"].id
  description       = "TLS to ${each.key}"
  prefix_list_id    = each.value
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 443
}

resource "aws_vpc_security_group_egress_rule" "bus" {
  for_each = local.to_bus

  security_group_id            = each.value
  description                  = "TLS to the servers of the bus"
  referenced_security_group_id = var.bus.security_group_id
  cidr_ipv4                    = var.bus.security_group_id == null ? var.vpc_cidr : null
  ip_protocol                  = "tcp"
  from_port                    = var.bus.port
  to_port                      = var.bus.port
}

resource "aws_ecs_task_definition" "stream" {
  for_each = local.streams

  family                   = "${var.name}-stream"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = each.value.size.cpu
  memory                   = each.value.size.memory
  task_role_arn            = each.value.task_role_arn
  execution_role_arn       = aws_iam_role.execution.arn

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = each.value.size.architecture
  }

  container_definitions = jsonencode([{
    name                   = "stream"
    image                  = var.image
    command                = ["stream"]
    essential              = true
    user                   = "10001:10001"
    readonlyRootFilesystem = true
    # it gives up its leases, which takes a moment
    stopTimeout     = 30
    environment     = [for name, value in merge(each.value.environment, { GATEWAY_PORT = tostring(local.port) }) : { name = name, value = value }]
    secrets         = [for arn in local.stream_secrets : { name = "GATEWAY_BUS_PASSWORD", valueFrom = arn }]
    linuxParameters = { initProcessEnabled = true, capabilities = { drop = ["ALL"], add = [] } }
    healthCheck = {
      command     = ["CMD", "python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
      interval    = 30
      timeout     = 10
      retries     = 3
      startPeriod = 20
    }
    logConfiguration = {
      logDriver = "awslogs"
      options = {
        awslogs-group         = var.log_group_name
        awslogs-region        = local.region
        awslogs-stream-prefix = "stream"
        mode                  = "non-blocking"
        max-buffer-size       = "8m"
      }
    }
  }])
}

resource "aws_ecs_service" "stream" {
  for_each = local.streams

  name                    = "${var.name}-stream"
  cluster                 = aws_ecs_cluster.this.id
  task_definition         = aws_ecs_task_definition.stream[each.key].arn
  launch_type             = "FARGATE"
  platform_version        = "LATEST"
  desired_count           = each.value.tasks
  enable_execute_command  = false
  wait_for_steady_state   = var.wait_for_steady_state
  propagate_tags          = "SERVICE"
  enable_ecs_managed_tags = true

  # leases let old and new tasks run together
  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets          = var.private_subnet_ids
    security_groups  = [aws_security_group.stream[each.key].id]
    assign_public_ip = false
  }

  depends_on = [aws_iam_role_policy.execution]
}
