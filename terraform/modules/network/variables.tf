variable "name" {
  description = "Prefix of the names of what is made."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,31}$", var.name))
    error_message = "A name has 3 to 32 lower-case letters, digits or `-`, and starts with a letter."
  }
}

variable "create" {
  description = "The VPC to make. `zones` private subnets; `public` adds public ones, for a load balancer that faces the internet; `nat` is `none`, `single` or `per_zone`, and makes public subnets too."
  type = object({
    cidr   = optional(string, "10.64.0.0/20")
    zones  = optional(number, 2)
    public = optional(bool, false)
    nat    = optional(string, "none")
  })
  default = {}

  validation {
    condition     = can(cidrsubnet(var.create.cidr, 4, 15))
    error_message = "The CIDR must leave room for sixteen subnets, such as 10.64.0.0/20."
  }

  validation {
    condition     = var.create.zones >= 2 && var.create.zones <= 6
    error_message = "A load balancer needs two zones; there are subnets for up to six."
  }

  validation {
    condition     = contains(["none", "single", "per_zone"], var.create.nat)
    error_message = "`nat` is `none`, `single` or `per_zone`."
  }
}

variable "existing" {
  description = "A VPC that exists already, instead of `create`. Its route tables get the endpoints: other programs in them can then reach no other DynamoDB table through the endpoint. The interface endpoints answer for the whole VPC, and that of STS for the gateway alone: where others live in the VPC, leave `interface_endpoints` empty."
  type = object({
    vpc_id             = string
    cidr               = string
    private_subnet_ids = list(string)
    public_subnet_ids  = optional(list(string), [])
    route_table_ids    = list(string)
    internet           = optional(bool, true)
  })
  default = null
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
}
