variable "nome" {
  description = "Name of the HTTP API."
  type        = string
}

variable "rotas" {
  description = "Routes: route key (\"POST /pedidos\") to the function that answers it; protegida ones need a token (autorizador_jwt)."
  type = map(object({
    nome_funcao   = string
    arn_invocacao = string
    protegida     = optional(bool, false)
  }))

  validation {
    condition     = length(var.rotas) > 0 && alltrue([for r in keys(var.rotas) : can(regex("^(GET|POST|PUT|PATCH|DELETE) /", r))])
    error_message = "A route key is METHOD /path, such as \"POST /pedidos\"."
  }
}

variable "autorizador_jwt" {
  description = "Issuer and audiences of the tokens that open protected routes; null when the API has none."
  type = object({
    emissor = string
    publico = list(string)
  })
  default  = null
  nullable = true

  validation {
    condition     = var.autorizador_jwt != null || !anytrue([for r in values(var.rotas) : r.protegida])
    error_message = "A protected route needs autorizador_jwt."
  }
}

variable "limite_requisicoes" {
  description = "Throttling of the stage: steady requests per second and burst."
  type = object({
    por_segundo = number
    rajada      = number
  })
  default = { por_segundo = 200, rajada = 400 }

  validation {
    condition     = var.limite_requisicoes.por_segundo > 0 && var.limite_requisicoes.rajada >= 1
    error_message = "Both throttling limits are positive: 0 would refuse every request."
  }
}

variable "prefixo_url" {
  description = <<-EOT
    Base of the API's URL where the endpoint does not answer on a host of its own: the URL is then
    <prefix>/<api id>/$default. null on AWS, where the API has its own host name.
  EOT
  type        = string
  default     = null
  nullable    = true

  validation {
    condition     = var.prefixo_url == null || can(regex("^https?://[^/]+(/.*[^/])?$", var.prefixo_url))
    error_message = "prefixo_url is an http(s) URL without a trailing slash."
  }
}

variable "habilitar_api_http" {
  description = "Whether to make the HTTP API; false leaves the function's own URL, for targets that have no HTTP API."
  type        = bool
  default     = true
  nullable    = false
}

variable "prefixo_url_funcao" {
  description = "Base of function URLs where they do not resolve by host name: <prefix>/<function name>; null on AWS."
  type        = string
  default     = null
  nullable    = true
}

variable "retencao_logs_dias" {
  description = "Days the access log is kept."
  type        = number
}

variable "chave_kms" {
  description = "ARN of a customer managed KMS key for the access log; null leaves it on the service's own."
  type        = string
  default     = null
  nullable    = true
}

variable "tags" {
  description = "Tags on top of the provider's default tags."
  type        = map(string)
  default     = {}
}
