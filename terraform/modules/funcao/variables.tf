variable "id_logico" {
  description = "Logical id of the function in template.yaml (for example ReservarEstoque)."
  type        = string

  validation {
    condition     = can(regex("^[A-Z][A-Za-z0-9]+$", var.id_logico))
    error_message = "id_logico is the logical id of a resource in template.yaml, such as ReservarEstoque."
  }
}

variable "contexto" {
  description = <<-EOT
    What every function of a deployment shares: the path of template.yaml, the artifact (bucket, key, base64 SHA-256),
    the runtime and architecture, the account, and what is done with logs.
  EOT
  type = object({
    arquivo_modelo = string
    artefato = object({
      bucket = string
      chave  = string
      hash   = string
    })
    runtime              = string
    arquitetura          = string
    ambiente             = string
    particao             = string
    regiao               = string
    conta                = string
    nivel_log            = string
    retencao_logs_dias   = number
    chave_kms            = optional(string)
    chaves_anteriores    = optional(list(string), [])
    chave_kms_alertas    = optional(string)
    limites_concorrencia = optional(map(number), {})
    rastreamento         = optional(bool)
  })
}

variable "servico" {
  description = "The system the function belongs to: POWERTOOLS_SERVICE_NAME, and the CloudWatch namespace of its business metrics."
  type        = string

  validation {
    condition     = contains(["cesta", "painel", "fila"], var.servico)
    error_message = "servico is cesta, painel or fila."
  }
}

variable "ambiente_variaveis" {
  description = "Environment variables of this function, on top of the ones every function has."
  type        = map(string)
  default     = {}

  validation {
    condition     = !contains(keys(var.ambiente_variaveis), "AMBIENTE")
    error_message = "AMBIENTE comes from the context; do not set it per function."
  }
}

variable "permissoes" {
  description = <<-EOT
    Statements of the role's policy, on top of writing its own log. One entry a capability; resources are exact ARNs.
    `condicoes` is a list of {teste, chave, valores}, as in an IAM Condition block.
  EOT
  type = list(object({
    sid      = string
    acoes    = list(string)
    recursos = list(string)
    condicoes = optional(list(object({
      teste   = string
      chave   = string
      valores = list(string)
    })), [])
  }))
  default = []

  validation {
    condition     = alltrue([for p in var.permissoes : length(p.acoes) > 0 && length(p.recursos) > 0])
    error_message = "Every statement names at least one action and one resource."
  }
  validation {
    condition     = alltrue(flatten([for p in var.permissoes : [for a in p.acoes : !strcontains(a, "*")]]))
    error_message = "An action is written in full: no wildcard."
  }
}

variable "recurso_curinga_justificado" {
  description = "Reason why a statement may have the resource \"*\" (an action AWS documents as taking no resource); null forbids it."
  type        = string
  default     = null
}

variable "alarme_erros" {
  description = <<-EOT
    Alarm on the function's Errors: more than `limiar` errors (Sum) in each of `periodos` periods of `periodo_s` seconds.
    A function that raises business outcomes (a refused card) counts them as errors, so its limit is above its everyday rate.
  EOT
  type = object({
    limiar    = optional(number, 0)
    periodo_s = optional(number, 300)
    periodos  = optional(number, 1)
  })
  default = {}
}

variable "arn_topico_alertas" {
  description = "ARN of the topic the error alarm notifies."
  type        = string
}

variable "concorrencia_reservada" {
  description = "Reserved concurrency of the function; null leaves it on the account's pool."
  type        = number
  default     = null
  nullable    = true

  validation {
    condition     = var.concorrencia_reservada == null || try(var.concorrencia_reservada >= 1, false)
    error_message = "concorrencia_reservada is at least 1: 0 would switch the function off."
  }
}

variable "tags" {
  description = "Tags of this function's resources, on top of the provider's default tags."
  type        = map(string)
  default     = {}
}
