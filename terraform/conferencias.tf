# Cesta: what happens after a saga ends. Confirmed orders leave the stock item; late and orphan effects are found.

module "conferencias" {
  source = "./modules/conferencias"

  contexto           = local.contexto
  arn_topico_alertas = module.observabilidade.arn_topico_alertas
  tabelas            = module.saga.tabelas
  stream_pedidos     = module.saga.stream_pedidos
  fila_humana        = module.saga.filas.compensacao_falhou
  arn_maquina_saga   = module.saga.arn_maquina_saga
  gateway            = local.gateway
  disjuntor          = module.saga.disjuntor

  reservas = {
    intervalo_min    = var.conferencias.intervalo_reservas_min
    limite_s         = var.conferencias.limite_reserva_s
    limite_decisao_s = var.conferencias.limite_decisao_s
    maximo_itens     = var.conferencias.maximo_itens
  }
  cobrancas = {
    intervalo_min    = var.conferencias.intervalo_cobrancas_min
    limite_s         = var.conferencias.limite_cobranca_s
    janela_s         = var.conferencias.janela_cobranca_s
    reaviso_s        = coalesce(var.conferencias.reaviso_s, module.saga.filas.compensacao_falhou.retencao_s - 86400)
    maximo_consultas = var.conferencias.maximo_consultas
  }
  habilitar_agenda          = var.conferencias.habilitar_agenda
  alarme_conferencia_parada = var.conferencias.alarme_conferencia_parada
}

variable "conferencias" {
  description = <<-EOT
    The checks of reservations and charges. intervalo_*_min: minutes between runs. limite_reserva_s: age from which a
    reservation without an outcome is abnormal, and an order's absence is believed. limite_decisao_s: how long a person who
    ended an order may leave its units undecided before people are reminded. limite_cobranca_s: age from which an
    order that is not confirmed should hold no charge. janela_cobranca_s: how long a failed order is still asked about.
    reaviso_s: how long after a message people are sent another about an order that still needs them; without it, a day
    less than the queue keeps one. maximo_itens, maximo_consultas: bounds of one run. habilitar_agenda: whether they run by themselves.
    alarme_conferencia_parada: alarm when one stops running.
  EOT
  type = object({
    intervalo_reservas_min    = optional(number, 5)
    limite_reserva_s          = optional(number, 900)
    limite_decisao_s          = optional(number, 604800)
    maximo_itens              = optional(number, 5000)
    intervalo_cobrancas_min   = optional(number, 15)
    limite_cobranca_s         = optional(number, 1800)
    janela_cobranca_s         = optional(number, 259200)
    reaviso_s                 = optional(number)
    maximo_consultas          = optional(number, 200)
    habilitar_agenda          = optional(bool, true)
    alarme_conferencia_parada = optional(bool, true)
  })
  default = {}

  validation {
    condition     = var.conferencias.habilitar_agenda || var.ambiente != "producao"
    error_message = "In producao the checks run by themselves: without them an orphan reservation stays for ever."
  }
}

output "tabela_estoque_baixas" {
  description = "Name of the table of write-offs."
  value       = module.conferencias.tabelas.baixas
}

output "tabela_conferencias" {
  description = "Name of the table where the checks remember."
  value       = module.conferencias.tabelas.conferencias
}

output "url_fila_baixar_reserva_dlq" {
  description = "URL of the queue of records the write-off's stream discarded."
  value       = module.conferencias.url_dlq
}

output "agendamentos" {
  description = "Schedules of the checks by function name: group and name."
  value       = module.conferencias.agendamentos
}
