# The NATS servers that carry change notes.

variable "bus" {
  type = object({
    servers           = list(string)
    stream            = optional(string, "gateway-changes")
    replicas          = optional(number, 3)
    ca                = optional(string)
    port              = optional(number, 4222)
    security_group_id = optional(string)
    web               = optional(object({ user = string, password_secret_arn = string }))
    reader            = optional(object({ user = string, password_secret_arn = string }))
    tasks             = optional(number, 2)
    size = optional(object({
      cpu          = optional(number, 256)
      memory       = optional(number, 512)
      architecture = optional(string, "X86_64")
    }), {})
  })

  validation {
    condition     = var.bus == null ? true : length(var.bus.servers) > 0 && alltrue([for server in var.bus.servers : can(regex("^tls://[A-Za-z0-9.-]+(:[0-9]{1,5})?$", server))])
    error_message = "`bus.servers` are addresses of NATS servers with tls://, at least one: notes hold the keys of items."
  }

  validation {
    condition     = var.bus == null ? true : (var.bus.web == null) == (var.bus.reader == null)
    error_message = "Set both `bus.web` and `bus.reader`, or neither: who serves tenants must not publish with the reader's user."
  }

  validation {
    condition     = try(var.bus.web.user != var.bus.reader.user, true)
    error_message = "`bus.web` and `bus.reader` are two users: who serves tenants reads notes and publishes none."
  }

  validation {
    condition     = var.bus == null ? true : var.bus.tasks >= 1
    error_message = "At least one task reads the table's stream: `bus.tasks`."
  }

  validation {
    condition     = var.bus == null || var.gateway_settings.stream == null
    error_message = "With `bus`, leave `gateway_settings.stream` out: it is `bus`."
  }
}
