# The gateway as a Fargate service: private subnets, no shell, read-only file system, a role that reaches no data.

locals {
  port    = 8000
  region  = data.aws_region.current.id
  account = data.aws_caller_identity.current.account_id

  bus_secrets = compact([try(var.bus.password_secret_arn, null)])
  environment = merge(var.environment, { GATEWAY_HOST = "0.0.0.0", GATEWAY_PORT = tostring(local.port) })

  # MiB that a task may have, by its CPU units: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/fargate-tasks-services.html
  fargate_memory = {
    "256"   = [512, 1024, 2048]
    "512"   = range(1024, 4097, 1024)
    "1024"  = range(2048, 8193, 1024)
    "2048"  = range(4096, 16385, 1024)
    "4096"  = range(8192, 30721, 1024)
    "8192"  = range(16384, 61441, 4096)
    "16384" = range(32768, 122881, 8192)
  }
}

data "aws_region" "current" {}

data "aws_caller_identity" "current" {}

resource "aws_ecs_cluster" "this" {
  name = var.name

  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

resource "aws_ecs_task_definition" "this" {
  family                   = var.name
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = var.size.cpu
  memory                   = var.size.memory
  task_role_arn            = var.task_role_arn
  execution_role_arn       = aws_iam_role.execution.arn

  runtime_platform {
    operating_system_family = "LINUX"
    cpu_architecture        = var.size.architecture
  }

  container_definitions = jsonencode([{
    name                   = "gateway"
    image                  = var.image
    essential              = true
    user                   = "10001:10001"
    readonlyRootFilesystem = true
    stopTimeout            = var.stop_seconds
    portMappings           = [{ containerPort = local.port, hostPort = local.port, protocol = "tcp" }]
    environment            = [for name in sort(keys(local.environment)) : { name = name, value = local.environment[name] }]
    secrets                = concat([{ name = "GATEWAY_CURSOR_SECRET", valueFrom = aws_secretsmanager_secret.cursor.arn }], [for arn in local.bus_secrets : { name = "GATEWAY_BUS_PASSWORD", valueFrom = arn }])
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"], add = [] } }
    healthCheck = {
      # the same as in the Dockerfile, which ECS does not read
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
        awslogs-stream-prefix = "gateway"
        # a log that cannot keep up must not hold up the requests
        mode            = "non-blocking"
        max-buffer-size = "8m"
      }
    }
  }])
}

resource "aws_ecs_service" "this" {
  name             = var.name
  cluster          = aws_ecs_cluster.this.id
  task_definition  = aws_ecs_task_definition.this.arn
  launch_type      = "FARGATE"
  platform_version = "LATEST"
  desired_count    = var.tasks.min
  # a task takes requests once it has opened a session and read the table and each index
  health_check_grace_period_seconds = 60
  enable_execute_command            = false
  wait_for_steady_state             = var.wait_for_steady_state
  propagate_tags                    = "SERVICE"
  enable_ecs_managed_tags           = true

  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets          = var.private_subnet_ids
    security_groups  = [aws_security_group.tasks.id]
    assign_public_ip = false
  }

  load_balancer {
    target_group_arn = aws_lb_target_group.this.arn
    container_name   = "gateway"
    container_port   = local.port
  }

  lifecycle {
    # autoscaling sets it
    ignore_changes = [desired_count]
  }

  # a target group takes tasks only once a listener uses it
  depends_on = [aws_lb_listener.http, aws_lb_listener.https, aws_iam_role_policy.execution]
}

resource "aws_appautoscaling_target" "this" {
  service_namespace  = "ecs"
  resource_id        = "service/${aws_ecs_cluster.this.name}/${aws_ecs_service.this.name}"
  scalable_dimension = "ecs:service:DesiredCount"
  min_capacity       = var.tasks.min
  max_capacity       = var.tasks.max
}

resource "aws_appautoscaling_policy" "cpu" {
  name               = "${var.name}-cpu"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this.service_namespace
  resource_id        = aws_appautoscaling_target.this.resource_id
  scalable_dimension = aws_appautoscaling_target.this.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value       = var.tasks.cpu_percent
    scale_in_cooldown  = 300
    scale_out_cooldown = 30

    predefined_metric_specification {
      predefined_metric_type = "ECSServiceAverageCPUUtilization"
    }
  }
}
