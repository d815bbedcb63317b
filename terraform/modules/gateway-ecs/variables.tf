variable "name" {
  description = "Prefix of the names of what is made."
  type        = string

  validation {
    # a target group's name has 32 characters at most
    condition     = can(regex("^[a-z][a-z0-9-]{2,23}$", var.name)) && !endswith(var.name, "-")
    error_message = "A name has 3 to 24 lower-case letters, digits or `-`, starts with a letter and does not end with `-`."
  }
}

variable "image" {
  description = "Container image with a tag that never moves or a digest, made from the Dockerfile of this repository."
  type        = string

  validation {
    condition     = can(regex("(@sha256:[0-9a-f]{64}|:[^:/]+)$", var.image)) && !endswith(var.image, ":latest")
    error_message = "Name a version by tag or digest; `latest` would make a roll-back impossible."
  }
}

variable "environment" {
  description = "Settings as GATEWAY_* variables; secrets are not among them."
  type        = map(string)

  validation {
    condition     = length(setintersection(keys(var.environment), ["GATEWAY_CURSOR_SECRET", "GATEWAY_BUS_PASSWORD"])) == 0
    error_message = "This module creates the cursor secret, and a secret holds the password of the bus: neither may be in a task definition."
  }
}

variable "task_role_arn" {
  description = "Role of the gateway; output of the module `iam`."
  type        = string
}

variable "vpc_id" {
  description = "VPC of the service."
  type        = string
}

variable "vpc_cidr" {
  description = "Addresses of the VPC, where its interface endpoints are."
  type        = string
}

variable "private_subnet_ids" {
  description = "Subnets of the tasks."
  type        = list(string)
}

variable "load_balancer_subnet_ids" {
  description = "Subnets of the load balancer: public ones where it faces the internet."
  type        = list(string)

  validation {
    condition     = length(var.load_balancer_subnet_ids) >= 2
    error_message = "A load balancer needs subnets in two zones. One that faces the internet needs public ones: `network.create.public`, or `network.existing.public_subnet_ids`."
  }
}

variable "prefix_list_ids" {
  description = "Address lists of the gateway endpoints that tasks may reach."
  type        = map(string)
  default     = {}
}

variable "internet" {
  description = "Let tasks reach the internet by TLS, for token issuers that publish their keys there."
  type        = bool
  default     = true
}

variable "internal" {
  description = "Keep the load balancer inside the VPC."
  type        = bool
  default     = true
}

variable "certificate_arn" {
  description = "Certificate of the load balancer (ACM). Without it, it speaks HTTP, and only inside the VPC."
  type        = string
  default     = null
}

variable "client_cidrs" {
  description = "Who may connect to the load balancer, as IPv4 addresses."
  type        = set(string)
  default     = []

  validation {
    condition     = alltrue([for cidr in var.client_cidrs : can(cidrnetmask(cidr))])
    error_message = "Name clients by IPv4 addresses such as 203.0.113.0/24: the load balancer has no IPv6 address."
  }
}

variable "web_acl_arn" {
  description = "Web ACL (WAF) for the load balancer."
  type        = string
  default     = null
}

variable "access_logs_bucket" {
  description = "Bucket for the load balancer's access logs."
  type        = string
  default     = null
}

variable "deletion_protection" {
  description = "Refuse to delete the load balancer until this is switched off."
  type        = bool
  default     = true
}

variable "log_group_name" {
  description = "Log group for the gateway's lines; output of the module `observability`."
  type        = string
}

variable "log_group_arn" {
  description = "ARN of that log group."
  type        = string
}

variable "kms_key_arn" {
  description = "Key that encrypts the cursor secret."
  type        = string
}

variable "repository_arn" {
  description = "ECR repository of the image; null if it comes from elsewhere."
  type        = string
  default     = null
}

variable "wait_for_steady_state" {
  description = "Let an apply end only once the tasks of a new version are up."
  type        = bool
  default     = true
}

variable "cursor_secret_version" {
  description = "Raise it to make a new cursor secret; cursors that clients hold are then refused."
  type        = number
  default     = 1
}

variable "size" {
  description = "CPU units and memory (MiB) of a task, and its processor: `X86_64` or `ARM64`, as the image was built."
  type = object({
    cpu          = optional(number, 512)
    memory       = optional(number, 1024)
    architecture = optional(string, "X86_64")
  })
  default = {}

  validation {
    condition     = contains(["X86_64", "ARM64"], var.size.architecture)
    error_message = "The architecture is `X86_64` or `ARM64`."
  }

  validation {
    condition     = contains(lookup(local.fargate_memory, tostring(var.size.cpu), []), var.size.memory)
    error_message = "Fargate has no task of this size. With 256 CPU units it has 512, 1024 or 2048 MiB; with 512, 1024, 2048 or 4096 two to eight times as many MiB as units (of 4096 units up to 30720), in steps of 1024; with 8192 up to 61440 in steps of 4096; with 16384 up to 122880 in steps of 8192."
  }
}

variable "tasks" {
  description = "How few and how many tasks there are, and the CPU use in percent that their number follows."
  type = object({
    min         = optional(number, 2)
    max         = optional(number, 10)
    cpu_percent = optional(number, 60)
  })
  default = {}

  validation {
    condition     = var.tasks.min >= 1 && var.tasks.max >= var.tasks.min
    error_message = "`min` is at least 1 and no larger than `max`."
  }
}

variable "stop_seconds" {
  description = "How long a task may drain and finish what is under way; more than the settings drain_timeout_seconds and request_timeout_seconds together."
  type        = number
  default     = 45

  validation {
    condition     = var.stop_seconds >= 2 && var.stop_seconds <= 120
    error_message = "Fargate waits 2 to 120 seconds until a task has stopped, and then kills it with its running requests: `drain_timeout_seconds` and `request_timeout_seconds` of the gateway are at most 110 together."
  }
}

variable "bus" {
  description = "The NATS servers that the tasks read change notes from: port, security group (null: anywhere in the VPC), and the secret with the password of the tasks' user; null where there are none."
  type        = object({ port = number, security_group_id = string, password_secret_arn = string })
  default     = null
}

variable "stream" {
  description = "The tasks that read the table's stream and fill the bus: their role, GATEWAY_* variables, the secret with the password of their user, their number and size; null for none."
  type = object({
    task_role_arn       = string
    environment         = map(string)
    password_secret_arn = string
    tasks               = number
    size                = object({ cpu = number, memory = number, architecture = string })
  })
  default = null

  validation {
    condition     = var.stream == null ? true : contains(["X86_64", "ARM64"], var.stream.size.architecture)
    error_message = "The architecture is `X86_64` or `ARM64`."
  }

  validation {
    condition     = var.stream == null ? true : contains(lookup(local.fargate_memory, tostring(var.stream.size.cpu), []), var.stream.size.memory)
    error_message = "Fargate has no task of this size. With 256 CPU units it has 512, 1024 or 2048 MiB; with 512, 1024, 2048 or 4096 two to eight times as many MiB as units (of 4096 units up to 30720), in steps of 1024; with 8192 up to 61440 in steps of 4096; with 16384 up to 122880 in steps of 8192."
  }

  validation {
    condition     = var.stream == null ? true : !contains(keys(var.stream.environment), "GATEWAY_BUS_PASSWORD")
    error_message = "A password must not be in a task definition: name the secret that holds it."
  }
}

variable "further_egress" {
  description = "What the tasks may connect to in addition to AWS and, with `internet`, the issuers: security groups by name, such as that of a DAX cluster."
  type        = map(object({ security_group_id = string, port = number }))
  default     = {}
}
