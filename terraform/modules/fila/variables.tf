variable "contexto" {
  description = "What every function of the deployment shares; see modules/funcao."
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
    habilitar_api_http   = optional(bool, true)
    prefixo_url_funcao   = optional(string)
    exigir_tls           = bool
  })
}

variable "projeto" {
  description = "Prefix of every name, and the tag Projeto."
  type        = string
  default     = "ffv-lab-fila"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{2,30}$", var.projeto))
    error_message = "projeto has 3 to 31 lower-case letters, digits and hyphens, starting with a letter."
  }
}

variable "gateway" {
  description = "The payment gateway: base URL, SSM parameter of its API key, and the client's connection and whole-call limits in seconds."
  type = object({
    url               = string
    nome_parametro    = string
    arn_parametro     = string
    timeout_conexao_s = number
    timeout_total_s   = number
  })

  validation {
    condition     = can(regex("^https?://", var.gateway.url))
    error_message = "gateway.url is an http(s) URL."
  }
  validation {
    # The consumer starts no message with less than total_s + 3 s of its 10 s left.
    condition     = var.gateway.timeout_conexao_s > 0 && var.gateway.timeout_conexao_s < var.gateway.timeout_total_s && var.gateway.timeout_total_s <= 6
    error_message = "The connection limit is above zero and below the limit of the whole call, which is at most 6 s: the consumer lives 10 s."
  }
}

variable "limites" {
  description = "Bounds of what the API accepts: units of one order and value in centavos."
  type = object({
    quantidade_maxima     = number
    valor_maximo_centavos = number
  })
}

variable "prefixo_url_api" {
  description = "Base of API URLs where APIs have no host of their own; null on AWS. See modules/api."
  type        = string
  default     = null
  nullable    = true
}

variable "limite_requisicoes" {
  description = "Throttling of the public API: steady requests per second and burst."
  type = object({
    por_segundo = number
    rajada      = number
  })
}

variable "concorrencia_consumidor" {
  description = <<-EOT
    How many batches are worked on at once (MaximumConcurrency of the mapping, at least 2), times `paralelismo` messages
    each: the pace at which the gateway and the stock are touched, whatever the size of the peak.
  EOT
  type        = number
  default     = 5

  validation {
    condition     = var.concorrencia_consumidor >= 2 && var.concorrencia_consumidor <= 1000
    error_message = "concorrencia_consumidor is 2 to 1000, as the event source mapping takes it."
  }
}

variable "paralelismo" {
  description = "Messages of one batch worked on at once; with 10 (the batch) a slow gateway costs a batch one wait, not ten."
  type        = number
  default     = 10

  validation {
    condition     = var.paralelismo >= 1 && var.paralelismo <= 10
    error_message = "paralelismo is 1 to 10."
  }
}

variable "habilitar_desenho_minimo" {
  description = "Deploy the synchronous design (POST /api/pedidos-sincrono) that the queue replaces, to compare the two under one load."
  type        = bool
  default     = false

  validation {
    condition     = !(var.habilitar_desenho_minimo && var.contexto.ambiente == "producao")
    error_message = "The synchronous design is never deployed to producao."
  }
}

variable "concorrencia_sincrono" {
  description = "Reserved concurrency of the synchronous design's function: what it may take of the account, and its ceiling at a peak."
  type        = number
  default     = 15
}

variable "chave_kms_alertas" {
  description = "ARN of a customer managed KMS key for the alert topic; null leaves it without KMS. See modules/observabilidade."
  type        = string
  default     = null
  nullable    = true
}

variable "autorizador_jwt" {
  description = "Issuer and audiences of the tokens every route needs; null leaves them open. See modules/api."
  type = object({
    emissor = string
    publico = list(string)
  })
  default  = null
  nullable = true
}
