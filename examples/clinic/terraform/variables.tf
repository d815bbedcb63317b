variable "region" {
  description = "Region of the table and the gateway."
  type        = string
  default     = "eu-west-1"
}

variable "image" {
  description = "Image that ECS runs, with its version. Null: everything but the service."
  type        = string
  default     = null
}

variable "issuers" {
  description = "Issuers of the tokens that the gateway accepts."
  type = list(object({
    issuer   = string
    audience = list(string)
    jwks_url = string
  }))
}
