variable "name" {
  description = "Prefix of the names of what is made."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,31}$", var.name))
    error_message = "A name has 3 to 32 lower-case letters, digits or `-`, and starts with a letter."
  }
}

variable "create" {
  description = "The VPC to make, where `existing` names none. `zones` private subnets; `public` adds public ones, for a load balancer that faces the internet; `nat` is `none`, `single` or `per_zone`, and makes public subnets too."
  type = object({
    cidr   = optional(string, "10.64.0.0/20")
    zones  = optional(number, 2)
    public = optional(bool, false)
    nat    = optional(string, "none")
  })
  default = null

  validation {
    condition     = (var.create == null) != (var.existing == null)
    error_message = "Either make a VPC (`create`) or name one (`existing`), and not both."
  }

  # sixteen subnets; one of the smallest, a /26, has 59 addresses for tasks, load balancer and endpoints
  validation {
    condition = var.create == null ? true : try(
      cidrnetmask(var.create.cidr) != "" && cidrsubnet(var.create.cidr, 0, 0) == var.create.cidr &&
      tonumber(split("/", var.create.cidr)[1]) >= 16 && tonumber(split("/", var.create.cidr)[1]) <= 22, false
    )
    error_message = "The CIDR is a network of IPv4 from /16 to /22, written with its first address, such as 10.64.0.0/20: it is cut into sixteen subnets."
  }

  validation {
    condition     = var.create == null ? true : var.create.zones >= 2 && var.create.zones <= 6
    error_message = "A load balancer needs two zones; there are subnets for up to six."
  }

  validation {
    condition     = contains(["none", "single", "per_zone"], try(var.create.nat, "none"))
    error_message = "`nat` is `none`, `single` or `per_zone`."
  }
}

variable "existing" {
  description = "A VPC that exists already, instead of `create`. `endpoint_ids` names the gateway endpoints that it has already, because it cannot have a second one for a service: attach the route tables to it, and put the policy on it that the module `iam` puts out. Otherwise its route tables get the endpoints: other programs in them can then reach no other DynamoDB table through the endpoint. The interface endpoints answer for the whole VPC, and that of STS for the gateway alone: where others live in the VPC, leave `interface_endpoints` empty."
  type = object({
    vpc_id             = string
    cidr               = string
    private_subnet_ids = list(string)
    public_subnet_ids  = optional(list(string), [])
    route_table_ids    = list(string)
    internet           = optional(bool, true)
    endpoint_ids       = optional(object({ dynamodb = optional(string), s3 = optional(string) }), {})
  })
  default = null

  validation {
    condition     = var.existing == null ? true : can(cidrnetmask(var.existing.cidr))
    error_message = "`existing.cidr` is the IPv4 network of the VPC, such as 10.64.0.0/20."
  }

  validation {
    condition     = alltrue([for id in values(try(var.existing.endpoint_ids, {})) : id == null ? true : can(regex("^vpce-[0-9a-f]+$", id))])
    error_message = "An endpoint is named by its id, such as vpce-0123456789abcdef0."
  }
}

variable "dynamodb_endpoint_policy" {
  description = "Policy of the gateway endpoint for DynamoDB; output of the module `iam`."
  type        = string

  validation {
    condition     = can(jsondecode(var.dynamodb_endpoint_policy).Statement)
    error_message = "An endpoint policy is a JSON document with statements."
  }
}

variable "sts_endpoint_policy" {
  description = "Policy of the interface endpoint for STS; output of the module `iam`."
  type        = string

  validation {
    condition     = can(jsondecode(var.sts_endpoint_policy).Statement)
    error_message = "An endpoint policy is a JSON document with statements."
  }
}

variable "s3_endpoint_statements" {
  description = "What may pass the gateway endpoint for S3 in addition to the layers of container images, as a JSON list; output of the module `iam`."
  type        = string
  default     = "[]"

  validation {
    condition     = can([for statement in jsondecode(var.s3_endpoint_statements) : statement.Effect])
    error_message = "A JSON list of statements."
  }
}

variable "interface_endpoints" {
  description = "Services that get an interface endpoint. The default is what the gateway needs in a VPC without NAT; each costs by the hour and by zone."
  type        = set(string)
  default     = ["sts", "logs", "ecr.api", "ecr.dkr", "secretsmanager"]
}

variable "flow_logs" {
  description = "Keep a log of connections of the VPC that is made: for so many days, encrypted with this key; null for none."
  type = object({
    days        = optional(number, 365)
    kms_key_arn = string
  })
  default = null

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653], try(var.flow_logs.days, 365))
    error_message = "CloudWatch Logs keeps lines for 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731 ... days."
  }
}
