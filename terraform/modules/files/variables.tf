variable "bucket_name" {
  description = "Name of the bucket; the policies of the tenants' role name it."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$", var.bucket_name))
    error_message = "A bucket has 3 to 63 lower-case letters, digits or `-`; a `.` would not fit the certificate of S3."
  }
}

variable "tenant_role_arns" {
  description = "The tenants' role, and roles of silos that keep their files here too: each session only below the prefix of its tenant."
  type        = set(string)

  validation {
    condition     = length(var.tenant_role_arns) > 0
    error_message = "Without the tenants' role, the bucket could not be used."
  }
}

variable "operator_role_arns" {
  description = "Roles other than the tenants' that may read and write objects, such as one that scans or exports files."
  type        = set(string)
  default     = []
}

variable "cors_origins" {
  description = "Origins of front ends that up- and download in the browser, such as `https://shop.example.org`."
  type        = set(string)
  default     = []
}

variable "recovery_days" {
  description = "Days in which a removed file can still be fetched back, as an older version."
  type        = number
  default     = 30

  validation {
    condition     = var.recovery_days >= 1
    error_message = "At least one day."
  }
}

variable "force_destroy" {
  description = "Let `terraform destroy` delete the bucket with the files in it."
  type        = bool
  default     = false
}
