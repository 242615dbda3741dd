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
    versao_por_chave     = optional(number, 0)
    chave_kms_alertas    = optional(string)
    limites_concorrencia = optional(map(number), {})
    rastreamento         = optional(bool)
    habilitar_api_http   = optional(bool, true)
    prefixo_url_funcao   = optional(string)
  })
}

variable "arn_topico_alertas" {
  description = "ARN of the topic the alarms of the functions notify."
  type        = string
}

variable "prefixo_url_api" {
  description = "Base of API URLs where APIs have no host of their own; null on AWS. See modules/api."
  type        = string
  default     = null
  nullable    = true
}

variable "habilitar_gateway_simulado" {
  description = "Whether the gateway stand-in is deployed."
  type        = bool
}

variable "habilitar_desenho_minimo" {
  description = "Whether the synchronous design (cesta-criar-pedido-sincrono) is deployed."
  type        = bool
}

variable "permitir_injecao_falhas" {
  description = "Whether the synchronous design accepts forcarInterrupcaoAposReserva."
  type        = bool
  default     = false
}

variable "atraso_lento_s" {
  description = "Seconds the stand-in takes to answer a slow card: longer than the client's limit of a whole call."
  type        = number
  default     = 6

  validation {
    condition     = var.atraso_lento_s > 0 && var.atraso_lento_s < 29
    error_message = "atraso_lento_s is above zero and below the stand-in's own timeout (29 s)."
  }
}

variable "atraso_padrao_ms" {
  description = "Milliseconds the stand-in takes to answer any other call."
  type        = number
  default     = 0

  validation {
    condition     = var.atraso_padrao_ms >= 0 && var.atraso_padrao_ms < 5000
    error_message = "atraso_padrao_ms is at least 0 and below 5000."
  }
}

variable "sincrono" {
  description = "What the synchronous design reaches: tables and gateway; null when it is not deployed."
  type = object({
    tabela_pedidos     = string
    arn_tabela_pedidos = string
    tabela_estoque     = string
    arn_tabela_estoque = string
    url_gateway        = string
    nome_parametro     = string
    arn_parametro      = string
    timeout_conexao_s  = number
    timeout_total_s    = number
  })
}
