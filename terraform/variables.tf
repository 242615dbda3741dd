# --- where -----------------------------------------------------------------------------------------------------------

variable "ambiente" {
  description = "Name of the environment (local, homologacao, producao…). producao refuses stand-ins and fault injection."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,19}$", var.ambiente))
    error_message = "ambiente has 2 to 20 characters: lower-case letters, digits and hyphens, starting with a letter."
  }
}

variable "regiao" {
  description = "AWS region."
  type        = string
  default     = "sa-east-1"

  validation {
    condition     = can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", var.regiao))
    error_message = "regiao is an AWS region, such as sa-east-1."
  }
}

variable "s3_estilo_caminho" {
  description = "Address S3 as endpoint/bucket; for endpoints that do not answer on bucket.endpoint."
  type        = bool
  default     = false
}

variable "prefixo_url_api" {
  description = "Base of API URLs where APIs have no host of their own (<prefix>/<api id>/$default); null on AWS."
  type        = string
  default     = null
  nullable    = true
}

variable "habilitar_api_http" {
  description = "Whether HTTP APIs are made. false only where the target has none: an API of one function is then that function's URL."
  type        = bool
  default     = true

  validation {
    condition     = var.habilitar_api_http || var.ambiente == "localstack"
    error_message = "habilitar_api_http is false only in ambiente localstack: a function's URL has neither throttling nor an authorizer."
  }
}

variable "prefixo_url_funcao" {
  description = "Base of function URLs where they do not resolve by host name (<prefix>/<function name>); null on AWS."
  type        = string
  default     = null
  nullable    = true
}

variable "exigir_tls" {
  description = "Whether queues, topic and bucket refuse requests without TLS; false only where the endpoint speaks plain HTTP."
  type        = bool
  default     = true

  validation {
    condition     = var.exigir_tls || contains(["local", "localstack"], var.ambiente)
    error_message = "exigir_tls is false only in ambiente local or localstack."
  }
}

# --- code ------------------------------------------------------------------------------------------------------------

variable "arquivo_artefato" {
  description = "Path of the zip every function runs, as the build makes it; relative paths start at this folder."
  type        = string

  validation {
    condition     = fileexists(var.arquivo_artefato)
    error_message = "arquivo_artefato does not exist: build it first."
  }
}

variable "arquivo_modelo" {
  description = "Path of template.yaml, where handler, timeout, memory and name of each function are written; null is the repository's."
  type        = string
  default     = null
  nullable    = true
}

variable "runtime" {
  description = "Lambda runtime of every function."
  type        = string
  default     = "python3.13"

  validation {
    condition     = contains(["python3.12", "python3.13", "provided.al2023"], var.runtime)
    error_message = "runtime is python3.12, python3.13 or provided.al2023 (an artifact that carries its own bootstrap). The locked provider knows no newer one."
  }
}

variable "arquitetura" {
  description = "Instruction set of every function; the artifact's wheels must match it."
  type        = string
  default     = "arm64"

  validation {
    condition     = contains(["arm64", "x86_64"], var.arquitetura)
    error_message = "arquitetura is arm64 or x86_64."
  }
}

# --- behaviour -------------------------------------------------------------------------------------------------------

variable "nivel_log" {
  description = "LOG_LEVEL of every function."
  type        = string
  default     = "INFO"

  validation {
    condition     = contains(["DEBUG", "INFO", "WARNING", "ERROR"], var.nivel_log)
    error_message = "nivel_log is DEBUG, INFO, WARNING or ERROR."
  }
}

variable "rastreamento" {
  description = <<-EOT
    Trace every function and state machine with X-Ray. It costs per trace, some time at each cold start, and permissions
    on every resource in every role (AWS allows nothing narrower), so it is for when it is needed. null
    leaves the machines' settings (this one, and encryption without a key) unsaid, for a target that keeps none.
  EOT
  type        = bool
  default     = false
  nullable    = true

  validation {
    condition     = var.rastreamento != null || contains(["local", "localstack"], var.ambiente)
    error_message = "rastreamento is null only in ambiente local or localstack: an account keeps a machine's settings until told otherwise."
  }
}

variable "retencao_logs_dias" {
  description = "Days the functions' and APIs' logs are kept."
  type        = number
  default     = 30

  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365], var.retencao_logs_dias)
    error_message = "retencao_logs_dias is one of the periods CloudWatch Logs accepts: 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365."
  }
}

variable "limites_pedido" {
  description = "Bounds of what the API accepts: units of one order and value in centavos."
  type = object({
    quantidade_maxima     = optional(number, 1000)
    valor_maximo_centavos = optional(number, 10000000)
  })
  default = {}

  validation {
    condition     = var.limites_pedido.quantidade_maxima >= 1 && var.limites_pedido.valor_maximo_centavos >= 1
    error_message = "Both bounds are at least 1."
  }
}

variable "limite_requisicoes" {
  description = "Throttling of the public API: steady requests per second and burst."
  type = object({
    por_segundo = optional(number, 200)
    rajada      = optional(number, 400)
  })
  default = {}

  validation {
    condition     = var.limite_requisicoes.por_segundo > 0 && var.limite_requisicoes.rajada >= 1
    error_message = "Both limits are positive: 0 would refuse every request."
  }
}

variable "limiar_duracao_p99_ms" {
  description = "Execution time (p99, ms) above which the saga is slower than normal."
  type        = number
  default     = 30000
}

variable "chave_kms" {
  description = <<-EOT
    ARN of a customer managed KMS key for everything that takes one: tables, queues, topics, buckets, the gateway's key, logs,
    functions' variables, state machines, schedules. null leaves each on the key AWS owns. docs/deploy.md has its policy.
  EOT
  type        = string
  default     = null
  nullable    = true

  validation {
    condition     = var.chave_kms == null || can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/", var.chave_kms))
    error_message = "chave_kms is the ARN of a key (arn:aws:kms:<regiao>:<conta>:key/<id>), not an alias."
  }
}

variable "chaves_kms_anteriores" {
  description = <<-EOT
    ARNs of the keys that chave_kms named before: the roles may still read what was encrypted under them, and executions started
    under them go on. Emptied when the longest retention has passed; docs/deploy.md has the steps.
  EOT
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for chave in var.chaves_kms_anteriores : can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/", chave))])
    error_message = "Each of chaves_kms_anteriores is the ARN of a key (arn:aws:kms:<regiao>:<conta>:key/<id>), not an alias."
  }
  validation {
    condition     = try(!contains(var.chaves_kms_anteriores, var.chave_kms), true)
    error_message = "chaves_kms_anteriores names keys other than chave_kms, which may be used anyway."
  }
}

variable "limites_concorrencia" {
  description = "Reserved concurrency by function (logical id in template.yaml): its ceiling, taken from the account's pool. Functions not named share the pool."
  type        = map(number)
  default     = {}

  validation {
    condition     = alltrue([for n in values(var.limites_concorrencia) : n >= 1 && floor(n) == n])
    error_message = "Each limit is a whole number, at least 1: 0 would switch the function off."
  }
  validation {
    condition = alltrue([
      for id in keys(var.limites_concorrencia) :
      can(yamldecode(file(coalesce(var.arquivo_modelo, "${path.root}/../template.yaml"))).Resources[id].Properties.FunctionName)
    ])
    error_message = "Each key is the logical id of a function in template.yaml, such as CobrarPagamento."
  }
}

variable "autorizador_jwt" {
  description = "Issuer and audiences of the tokens that POST and GET of orders need, on the saga's and the queue's APIs; null leaves both open."
  type = object({
    emissor = string
    publico = list(string)
  })
  default  = null
  nullable = true

  validation {
    condition     = var.autorizador_jwt == null || (can(regex("^https://", var.autorizador_jwt.emissor)) && try(length(var.autorizador_jwt.publico) > 0, false))
    error_message = "emissor is an https URL and publico names at least one audience."
  }
  validation {
    condition     = var.autorizador_jwt == null || var.habilitar_api_http
    error_message = "Without HTTP APIs there is no authorizer."
  }
}

variable "chave_kms_alertas" {
  description = "ARN of another customer managed KMS key, for the alert topics alone; null leaves them on chave_kms, and without either without KMS. See modules/observabilidade."
  type        = string
  default     = null
  nullable    = true
}

# --- gateway ---------------------------------------------------------------------------------------------------------

variable "url_gateway" {
  description = "Base URL of the payment gateway, without a trailing slash; null when the stand-in is deployed."
  type        = string
  default     = null
  nullable    = true

  validation {
    condition     = var.url_gateway == null || can(regex("^https://[^/]+(/.*[^/])?$", var.url_gateway))
    error_message = "url_gateway is an https URL without a trailing slash: it carries card tokens and an API key."
  }
  validation {
    condition     = (var.url_gateway != null) != var.habilitar_gateway_simulado
    error_message = "Give url_gateway or set habilitar_gateway_simulado, not both and not neither."
  }
}

variable "chave_gateway" {
  description = "API key of the gateway at url_gateway (pass it as TF_VAR_chave_gateway). It goes to a SecureString and never to the plan or the state."
  type        = string
  default     = null
  nullable    = true
  sensitive   = true
  ephemeral   = true

  validation {
    condition     = var.habilitar_gateway_simulado || try(length(var.chave_gateway) >= 8, false)
    error_message = "A real gateway needs chave_gateway (at least 8 characters)."
  }
}

variable "versao_chave_gateway" {
  description = "Raise it by one to write a new chave_gateway: Terraform cannot see that a write-only value changed."
  type        = number
  default     = 1
}

variable "timeouts_gateway" {
  description = "Limits of a gateway call in seconds: the connection and the whole call, retries included. Both end before the function's timeout."
  type = object({
    conexao_s = optional(number, 2)
    total_s   = optional(number, 4)
  })
  default = {}
}

variable "disjuntor_gateway" {
  description = "Circuit breaker of the gateway: falhas orders that fail within janela_s seconds, with no answer in between, open it; aberto_s seconds between probes. See modules/saga."
  type = object({
    falhas   = optional(number, 5)
    janela_s = optional(number, 120)
    aberto_s = optional(number, 30)
  })
  default = {}
}

# --- release of the saga ---------------------------------------------------------------------------------------------

variable "maquina_por_apelido" {
  description = "Whether sagas start through the alias vigente of published versions. false where the target does not tell a start by an alias from one by the machine (see modules/saga)."
  type        = bool
  default     = true
}

variable "liberacao_saga" {
  description = "Gradual release of the state machine: percentual of new sagas run the version just deployed, the others versao_anterior; null gives it all of them."
  type = object({
    percentual      = number
    versao_anterior = number
  })
  default  = null
  nullable = true
}

# --- stand-ins, minimal designs and fault injection ------------------------------------------------------------------

variable "habilitar_gateway_simulado" {
  description = "Deploy the gateway stand-in and charge through it."
  type        = bool
  default     = false

  validation {
    condition     = !(var.habilitar_gateway_simulado && var.ambiente == "producao")
    error_message = "The gateway stand-in is never deployed to producao: orders would be confirmed without a charge."
  }
}

variable "habilitar_desenho_minimo" {
  description = "Deploy the synchronous design the saga replaces (cesta-criar-pedido-sincrono), to show its defect."
  type        = bool
  default     = false

  validation {
    condition     = !(var.habilitar_desenho_minimo && var.ambiente == "producao")
    error_message = "The minimal design is never deployed to producao: it loses reservations by construction."
  }
}

variable "permitir_injecao_falhas" {
  description = "Let an order ask for a failure (forcarFalhaConfirmar, forcarFalhaEstorno, forcarInterrupcaoAposReserva)."
  type        = bool
  default     = false

  validation {
    condition     = !(var.permitir_injecao_falhas && var.ambiente == "producao")
    error_message = "Fault injection is never switched on in producao."
  }
}

variable "atraso_lento_s" {
  description = "Seconds the stand-in takes to answer a slow card: above timeouts_gateway.total_s, so that the client gives up first."
  type        = number
  default     = 6

  validation {
    condition     = !var.habilitar_gateway_simulado || var.atraso_lento_s > var.timeouts_gateway.total_s
    error_message = "atraso_lento_s is above timeouts_gateway.total_s, else the slow card would not be slow."
  }
}
