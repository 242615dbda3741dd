# Who is told: an e-mail subscription of each topic for each address. Nothing in the topics' policies speaks of subscribing,
# because within an account the right of who deploys (sns:Subscribe) is enough.

variable "destinos_alertas" {
  description = "E-mail addresses told of every alarm, preferably a team's mailbox; each confirms by the message AWS sends. producao needs one."
  type        = list(string)
  default     = []
  nullable    = false
  sensitive   = true # addresses of people: a plan is shown, and kept where builds are

  validation {
    condition     = alltrue([for d in var.destinos_alertas : can(regex("^[^@\\s]+@[^@\\s.]+(\\.[^@\\s.]+)+$", d))])
    error_message = "destinos_alertas é uma lista de endereços de e-mail, como [\"plantao@example.com\"]."
  }
  validation {
    condition     = length(distinct([for d in var.destinos_alertas : lower(d)])) == length(var.destinos_alertas)
    error_message = "destinos_alertas repete um endereço."
  }
  validation {
    condition     = var.ambiente != "producao" || length(var.destinos_alertas) > 0
    error_message = "Em producao um alarme tem de chegar a alguém: ponha destinos_alertas = [\"plantao@example.com\"] nas variáveis do ambiente, com o endereço da equipe."
  }
}

variable "destinos_reposicao" {
  description = "E-mail addresses of the people who restock, told of each cancelled order of a store; each confirms by the message AWS sends."
  type        = list(string)
  default     = []
  nullable    = false
  sensitive   = true

  validation {
    condition     = alltrue([for d in var.destinos_reposicao : can(regex("^[^@\\s]+@[^@\\s.]+(\\.[^@\\s.]+)+$", d))])
    error_message = "destinos_reposicao é uma lista de endereços de e-mail, como [\"estoque@example.com\"]."
  }
  validation {
    condition     = length(distinct([for d in var.destinos_reposicao : lower(d)])) == length(var.destinos_reposicao)
    error_message = "destinos_reposicao repete um endereço."
  }
}

locals {
  # By topic, what is subscribed to it. The stores' topic is no one's alarm, and alarms are not the stores' business.
  assinaturas = {
    saga      = { topico = module.observabilidade.arn_topico_alertas, destinos = var.destinos_alertas }
    painel    = { topico = module.painel.arn_topico_operacao, destinos = var.destinos_alertas }
    fila      = { topico = module.fila.arn_topico_alertas, destinos = var.destinos_alertas }
    reposicao = { topico = module.painel.arn_topico_reposicao, destinos = var.destinos_reposicao }
  }

  # for_each takes no sensitive value, and an address is one: a subscription's key is a digest of it.
  destinos = { for d in distinct(concat(var.destinos_alertas, var.destinos_reposicao)) : substr(sha256(d), 0, 12) => d }
}

resource "aws_sns_topic_subscription" "destino" {
  for_each = merge([
    for nome, a in local.assinaturas : {
      for chave in nonsensitive([for d in a.destinos : substr(sha256(d), 0, 12)]) :
      "${nome}-${chave}" => { topico = a.topico, chave = chave }
    }
  ]...)

  topic_arn = each.value.topico
  protocol  = "email"
  endpoint  = local.destinos[each.value.chave]
}
