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
    exigir_tls           = bool
  })
}

variable "arn_topico_alertas" {
  description = "ARN of the topic the alarms of the functions notify."
  type        = string
}

variable "arquivo_asl" {
  description = "Path of the state machine's template, asl/saga-pedido.asl.json."
  type        = string
}

variable "arquivo_asl_compensacao" {
  description = "Path of the manual compensation's template, asl/compensacao-manual.asl.json."
  type        = string
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
    condition     = var.gateway.timeout_conexao_s > 0 && var.gateway.timeout_conexao_s < var.gateway.timeout_total_s
    error_message = "The connection limit is above zero and below the limit of the whole call."
  }
}

variable "disjuntor" {
  description = "Circuit breaker of the gateway: orders that must fail within a window of janela_s seconds, with no answer in between, for an operation's circuit to open; and seconds between probes while it is open."
  type = object({
    falhas   = optional(number, 5)
    janela_s = optional(number, 120)
    aberto_s = optional(number, 30)
  })
  default = {}

  validation {
    condition     = var.disjuntor.falhas >= 2 && var.disjuntor.falhas <= 1000 && floor(var.disjuntor.falhas) == var.disjuntor.falhas
    error_message = "disjuntor.falhas is a whole number from 2 to 1000: one failure is not an outage."
  }
  validation {
    condition     = var.disjuntor.janela_s > 0 && var.disjuntor.janela_s <= 3600
    error_message = "disjuntor.janela_s is above zero and at most 3600 seconds."
  }
  validation {
    # Slow is not down: in a shorter window, calls that each run into their limit could not even add up.
    condition     = var.disjuntor.janela_s > var.gateway.timeout_total_s
    error_message = "disjuntor.janela_s is longer than the limit of one gateway call."
  }
  validation {
    condition     = var.disjuntor.aberto_s >= 1 && var.disjuntor.aberto_s <= 3600
    error_message = "disjuntor.aberto_s is from 1 to 3600 seconds."
  }
}

variable "limites" {
  description = "Bounds of what the API accepts: units of one order and value in centavos."
  type = object({
    quantidade_maxima     = number
    valor_maximo_centavos = number
  })
}

variable "permitir_injecao_falhas" {
  description = "Whether an order may carry forcarFalhaConfirmar and forcarFalhaEstorno; only for the proofs."
  type        = bool
  default     = false
}

variable "maquina_por_apelido" {
  description = "Whether sagas start through an alias of published versions; false starts the machine's latest definition."
  type        = bool
  default     = true
}

variable "liberacao" {
  description = "Gradual release: the new version takes percentual of new sagas, versao_anterior the others; null gives all to the new one."
  type = object({
    percentual      = number
    versao_anterior = number
  })
  default  = null
  nullable = true

  validation {
    condition     = var.liberacao == null || try(var.liberacao.percentual >= 0 && var.liberacao.percentual <= 99 && floor(var.liberacao.percentual) == var.liberacao.percentual, false)
    error_message = "percentual is a whole number from 0 (all on the previous version) to 99; at 100, leave the release out."
  }
  validation {
    condition     = var.liberacao == null || try(var.liberacao.versao_anterior >= 1 && floor(var.liberacao.versao_anterior) == var.liberacao.versao_anterior, false)
    error_message = "versao_anterior is the number of a published version."
  }
  validation {
    condition     = var.liberacao == null || var.maquina_por_apelido
    error_message = "A gradual release needs maquina_por_apelido."
  }
}
