variable "contexto" {
  description = "What every function of a deployment shares; see modules/funcao. exigir_tls: whether the queue refuses plain HTTP."
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

variable "tabela_origem_existente" {
  description = "Name of the pedidos_cadencia that already exists, with its stream on; null makes the table here."
  type        = string
  default     = null
  nullable    = true
}

variable "posicao_inicial" {
  description = <<-EOT
    Where the mapping starts reading. TRIM_HORIZON: a mapping takes minutes to start after it is created or changed, and
    LATEST misses what is written meanwhile; the consumer is idempotent, so reading 24 h again costs writes and loses nothing.
  EOT
  type        = string
  default     = "TRIM_HORIZON"

  validation {
    condition     = contains(["TRIM_HORIZON", "LATEST"], var.posicao_inicial)
    error_message = "posicao_inicial is TRIM_HORIZON or LATEST."
  }
}

variable "destino_falhas" {
  description = "Where the mapping keeps what it discards: sqs (shard and range only; the stream holds the records for 24 h) or s3 (the records too)."
  type        = string
  default     = "sqs"

  validation {
    condition     = contains(["sqs", "s3"], var.destino_falhas)
    error_message = "destino_falhas is sqs or s3."
  }
}

variable "carencia_reconciliacao_s" {
  description = "Seconds since an order's last change before reconciliation may call it a gap: while the stream still holds the record (24 h) it may yet arrive."
  type        = number
  default     = 90000

  validation {
    condition     = var.carencia_reconciliacao_s >= 0
    error_message = "carencia_reconciliacao_s is not negative."
  }
}

variable "idade_maxima_registro_s" {
  description = <<-EOT
    Age from which the consumer is no longer handed a record (seconds): it goes to the on-failure destination while the stream
    still holds it. The loss alarm is an hour below.
  EOT
  type        = number
  default     = 79200

  validation {
    condition     = var.idade_maxima_registro_s >= 7200 && var.idade_maxima_registro_s <= 82800
    error_message = "idade_maxima_registro_s is between 7200 and 82800: an hour of the stream's 24 must be left to read what was discarded."
  }
}

variable "intervalo_pendencia_min" {
  description = "Minutes between two looks at whether a reconciliation was left unfinished or has to be repeated."
  type        = number
  default     = 15

  validation {
    condition     = contains([5, 10, 15, 30, 60], var.intervalo_pendencia_min)
    error_message = "intervalo_pendencia_min is 5, 10, 15, 30 or 60."
  }
}

variable "status_iniciais" {
  description = "Statuses an order is created with: one that has never changed has no transition and is no gap."
  type        = list(string)
  default     = ["PENDENTE"]
}

variable "habilitar_desenho_minimo" {
  description = "Deploy the 2-minute polling design, to show side by side what it loses."
  type        = bool
  default     = false
}

variable "habilitar_login" {
  description = "Require a signed-in person (Cognito) on every route that shows an order."
  type        = bool
  default     = true
}

variable "intervalo_consulta_ms" {
  description = "How often an open page asks what changed, in milliseconds, while things are changing; it slows down by itself when they are not."
  type        = number
  default     = 2500

  validation {
    condition     = var.intervalo_consulta_ms >= 1000 && var.intervalo_consulta_ms <= 30000
    error_message = "intervalo_consulta_ms is between 1000 and 30000."
  }
}

variable "limite_requisicoes" {
  description = "Throttling of the panel's API: steady requests per second and burst. 900 stores asking every 2.5 s are 360 a second."
  type = object({
    por_segundo = number
    rajada      = number
  })
  default = { por_segundo = 500, rajada = 1000 }
}

variable "alarme_consumidor_parado" {
  description = "Alarm when the consumer was not invoked for 6 h; false where there is no steady traffic."
  type        = bool
  default     = true
}

variable "prefixo_url_api" {
  description = "See modules/api."
  type        = string
  default     = null
  nullable    = true
}

variable "chave_kms_alertas" {
  description = "ARN of a customer managed KMS key for the operations topic; null leaves it without KMS."
  type        = string
  default     = null
  nullable    = true
}

variable "stream_por_curinga" {
  description = "Grant the stream's reading on * to ffv-lab-reprocessar-dlq: only for an engine that does not resolve a stream's ARN."
  type        = bool
  default     = false

  validation {
    condition     = !var.stream_por_curinga || contains(["local", "localstack"], var.contexto.ambiente)
    error_message = "stream_por_curinga is for local engines only: an account grants the one stream."
  }
}
