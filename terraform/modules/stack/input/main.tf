locals {
  safe_address = "^(https://[^/?#@[:space:]]+|http://(127[.]0[.]0[.]1|localhost)(:[0-9]+)?)(/[^[:space:]]*)?$"

  typed = {
    capacity        = var.capacity, table = var.table, keys = var.keys, network = var.network, issuers = var.issuers
    revoke_sessions = var.revoke_sessions, gateway_settings = var.gateway_settings, gateway = var.gateway
    alarms          = var.alarms, audit = var.audit, dax = var.dax, budget = var.budget, backup = var.backup
    files           = var.files, bus = var.bus
  }

  # every member that was written, and every member that the types have, by its path; Terraform has no recursion
  level1 = merge([for side, inputs in { written = var.written, typed = local.typed } : { for name, value in inputs : "${side}.${name}" => value }]...)
  level2 = merge([for path, value in local.level1 : { for name, member in value : "${path}.${name}" => member } if can(keys(value)) || can(value[0])]...)
  level3 = merge([for path, value in local.level2 : { for name, member in value : "${path}.${name}" => member } if can(keys(value)) || can(value[0])]...)
  level4 = merge([for path, value in local.level3 : { for name, member in value : "${path}.${name}" => member } if can(keys(value)) || can(value[0])]...)
  level5 = merge([for path, value in local.level4 : { for name, member in value : "${path}.${name}" => member } if can(keys(value)) || can(value[0])]...)
  level6 = merge([for path, value in local.level5 : { for name, member in value : "${path}.${name}" => member } if can(keys(value)) || can(value[0])]...)
  paths  = flatten([for level in [local.level1, local.level2, local.level3, local.level4, local.level5, local.level6] : keys(level)])

  written = [for path in local.paths : trimprefix(path, "written.") if startswith(path, "written.")]
  known   = toset([for path in local.paths : trimprefix(path, "typed.") if startswith(path, "typed.")])

  # elements of a list that became a set have no path
  strangers = [for path in local.written : path if !contains(local.known, path) && !can(regex("[.][0-9]+$", path))]
  # of a member that nobody knows, its own members are not told
  unknown = { for path in local.strangers : path => replace(path, "/[.][^.]+$/", "") if contains(local.known, replace(path, "/[.][^.]+$/", "")) }
  told    = [for path, parent in local.unknown : "`${path}` (there are ${join(", ", [for known in local.known : trimprefix(known, "${parent}.") if can(regex("^${parent}[.][^.]+$", known))])})"]
}
