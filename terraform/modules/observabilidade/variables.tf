variable "regiao" {
  description = "Region the dashboard reads."
  type        = string
}

variable "conta" {
  description = "Account whose alarms may notify the topic."
  type        = string
}

variable "particao" {
  description = "AWS partition, for ARNs built from names."
  type        = string
}

variable "exigir_tls" {
  description = "Whether the topic refuses what is published without TLS."
  type        = bool
  default     = true
}

variable "arn_maquina_saga" {
  description = "ARN of the state machine."
  type        = string
}

variable "arn_compensacao" {
  description = "ARN of the state machine of the manual compensation."
  type        = string
}

variable "grupo_log_maquina" {
  description = "Name of the state machine's log group."
  type        = string
}

variable "filas" {
  description = "Names of the queues watched: input, its DLQ and the human queue."
  type = object({
    pedidos_criados     = string
    pedidos_criados_dlq = string
    compensacao_falhou  = string
  })
}

variable "funcoes" {
  description = "ARNs of the functions the dashboard counts, by logical id."
  type        = map(string)

  validation {
    condition     = alltrue([for f in ["LiberarEstoque", "EstornarPagamento"] : contains(keys(var.funcoes), f)])
    error_message = "The dashboard tells failures of charge and confirmation apart by LiberarEstoque and EstornarPagamento."
  }
}

variable "limiar_duracao_p99_ms" {
  description = "Execution time (p99, ms) above which the saga is slower than normal."
  type        = number
  default     = 30000

  validation {
    condition     = var.limiar_duracao_p99_ms > 0
    error_message = "limiar_duracao_p99_ms is a positive number of milliseconds."
  }
}

variable "chave_kms_alertas" {
  description = "ARN of a customer managed KMS key that lets cloudwatch.amazonaws.com use it, to encrypt the topic; null leaves it without KMS."
  type        = string
  default     = null
  nullable    = true

  validation {
    condition     = var.chave_kms_alertas == null || can(regex("^arn:[^:]+:kms:", var.chave_kms_alertas))
    error_message = "An alarm cannot publish to a topic under alias/aws/sns: give the ARN of a customer managed key, or null."
  }
}
