# The least that keeps tenants apart: the table and the roles. Everything else is up to you.

provider "aws" {
  region = var.region
}

module "iam" {
  source = "../../modules/iam"

  name               = var.name
  table_name         = var.name
  gateway_principals = var.gateway_principals
}

module "table" {
  source = "../../modules/table"

  name                = var.name
  definition          = jsondecode(file("${path.module}/../../table.json"))
  deletion_protection = false
}
