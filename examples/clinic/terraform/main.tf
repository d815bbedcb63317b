# The table, the roles and the image repository of clinic. `gateway terraform-inputs` and `gateway policies` write the files
# that it reads.

terraform {
  required_version = ">= 1.11"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 7.0"
    }
  }
}

provider "aws" {
  region = var.region
}

module "stack" {
  source = "../../../terraform/modules/stack"

  name         = "clinic"
  table_file   = "${path.module}/table.json"
  policies_dir = "${path.module}/../policies"
  issuers      = var.issuers

  gateway          = { run = var.image != null, image = var.image }
  gateway_settings = { domains = ["clinic.domain"] }
}
