variable "region" {
  description = "Region of the table."
  type        = string
  default     = "eu-west-1"
}

variable "name" {
  description = "Name of the table, and prefix of the roles."
  type        = string
  default     = "gateway-minimal"
}

variable "gateway_principals" {
  description = "ARNs of the roles or users that run the gateway."
  type        = set(string)
  default     = []
}
