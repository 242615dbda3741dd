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

variable "tabelas" {
  description = "The saga's tables the checks read and mend: name and ARN of each."
  type = object({
    estoque = object({ nome = string, arn = string })
    pedidos = object({ nome = string, arn = string })
  })
}

variable "stream_pedidos" {
  description = "ARN of the stream of cesta-pedidos."
  type        = string
}

variable "fila_humana" {
  description = "The queue people read: URL, ARN, and for how long (s) it keeps a message."
  type        = object({ url = string, arn = string, retencao_s = number })
}

variable "arn_maquina_saga" {
  description = "ARN of the saga's state machine, to name the execution a person has to look at."
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
}

variable "disjuntor" {
  description = "The gateway's circuit breaker: its variables, and its table's ARN."
  type = object({
    variaveis  = map(string)
    arn_tabela = string
  })
}

variable "reservas" {
  description = <<-EOT
    The check of reservations: minutes between runs; seconds from which a reservation without an outcome is abnormal;
    seconds a person who ended an order may leave its units undecided; stock items of one run.
  EOT
  type = object({
    intervalo_min    = number
    limite_s         = number
    limite_decisao_s = number
    maximo_itens     = number
  })

  validation {
    condition     = contains([1, 5, 10, 15, 30, 60], var.reservas.intervalo_min)
    error_message = "reservas.intervalo_min is 1, 5, 10, 15, 30 or 60: an alarm counts in the same periods."
  }
  validation {
    condition     = var.reservas.limite_s >= 300
    error_message = "reservas.limite_s is at least 300: below it, orders of a busy moment would look stuck."
  }
  validation {
    condition     = var.reservas.limite_decisao_s >= 86400
    error_message = "reservas.limite_decisao_s is at least 86400 (a day): people decide in days."
  }
  validation {
    condition     = var.reservas.maximo_itens >= 1
    error_message = "reservas.maximo_itens is at least 1."
  }
}

variable "cobrancas" {
  description = <<-EOT
    The check of charges: minutes between runs; seconds from which an order that is not confirmed should hold no charge;
    seconds a failed order is still asked about; seconds from a message to the next about the same order; questions to
    the gateway in one run.
  EOT
  type = object({
    intervalo_min    = number
    limite_s         = number
    janela_s         = number
    reaviso_s        = number
    maximo_consultas = number
  })

  validation {
    condition     = contains([1, 5, 10, 15, 30, 60], var.cobrancas.intervalo_min)
    error_message = "cobrancas.intervalo_min is 1, 5, 10, 15, 30 or 60: an alarm counts in the same periods."
  }
  validation {
    condition     = var.cobrancas.limite_s >= 1260
    error_message = "cobrancas.limite_s is at least 1260: a saga whose every call fails every time stays 1,201 s in one status."
  }
  validation {
    condition     = var.cobrancas.janela_s >= 90000
    error_message = "cobrancas.janela_s is at least 90000 (25 h): the gateway repeats an answer for 24 h."
  }
  validation {
    condition     = var.cobrancas.reaviso_s >= 3600 && var.cobrancas.reaviso_s <= var.fila_humana.retencao_s - 7200
    error_message = "cobrancas.reaviso_s is at least 3600, and two hours (a run of the check and one that failed) below the queue's retention."
  }
  validation {
    condition     = var.cobrancas.maximo_consultas >= 1
    error_message = "cobrancas.maximo_consultas is at least 1."
  }
}

variable "habilitar_agenda" {
  description = "Whether the checks run by themselves; false leaves the schedules there, switched off."
  type        = bool
}

variable "alarme_conferencia_parada" {
  description = "Alarm when a check stops running; false where the schedules do not run."
  type        = bool
}
