# Cadência: the panel of store operations, from the stream of pedidos_cadencia to the manager's page.

module "painel" {
  source = "./modules/painel"

  contexto                 = local.contexto
  prefixo_url_api          = var.prefixo_url_api
  chave_kms_alertas        = local.chave_kms_alertas
  habilitar_desenho_minimo = var.habilitar_desenho_minimo

  tabela_origem_existente  = var.painel.tabela_origem_existente
  posicao_inicial          = var.painel.posicao_inicial
  destino_falhas           = var.painel.destino_falhas
  habilitar_login          = var.painel.habilitar_login
  alarme_consumidor_parado = var.painel.alarme_consumidor_parado
  carencia_reconciliacao_s = var.painel.carencia_reconciliacao_s
  intervalo_pendencia_min  = var.painel.intervalo_pendencia_min
  idade_maxima_registro_s  = var.painel.idade_maxima_registro_s
  intervalo_consulta_ms    = var.painel.intervalo_consulta_ms
  stream_por_curinga       = var.painel.stream_por_curinga
}

variable "painel" {
  description = <<-EOT
    The panel. tabela_origem_existente: name of the pedidos_cadencia that already exists (null makes one).
    posicao_inicial: TRIM_HORIZON or LATEST. destino_falhas: sqs (position only) or s3 (records too). habilitar_login:
    require a Cognito sign-in. alarme_consumidor_parado: alarm after 6 h without an invocation. carencia_reconciliacao_s:
    age of a change before it may be called a gap (seconds). intervalo_pendencia_min: minutes between two looks at what a
    reconciliation left. idade_maxima_registro_s: age from which a record is discarded to destino_falhas.
    intervalo_consulta_ms: how often an open page asks. stream_por_curinga: local engines only, see modules/painel.
  EOT
  type = object({
    tabela_origem_existente  = optional(string)
    posicao_inicial          = optional(string, "TRIM_HORIZON")
    destino_falhas           = optional(string, "sqs")
    habilitar_login          = optional(bool, true)
    alarme_consumidor_parado = optional(bool, true)
    carencia_reconciliacao_s = optional(number, 90000)
    intervalo_pendencia_min  = optional(number, 15)
    idade_maxima_registro_s  = optional(number, 79200)
    intervalo_consulta_ms    = optional(number, 2500)
    stream_por_curinga       = optional(bool, false)
  })
  default = {}

  validation {
    condition     = var.painel.habilitar_login || var.ambiente != "producao"
    error_message = "In producao nobody sees a store's orders without signing in."
  }
}

output "stream_arn" {
  description = "ARN of the stream of pedidos_cadencia."
  value       = module.painel.stream_arn
}

output "dlq_url" {
  description = "URL of the on-failure queue ffv-lab-consumidor-pedidos-dlq."
  value       = module.painel.dlq_url
}

output "url_painel" {
  description = "Address of the manager's page; add ?loja=<id>."
  value       = module.painel.url_painel
}

output "url_api_painel" {
  description = "Base URL of the panel's API."
  value       = module.painel.url_api
}

output "tabela_pedidos_cadencia" {
  description = "Name of the panel's source table."
  value       = module.painel.tabelas.origem
}

output "tabela_painel_operacao" {
  description = "Name of the panel's read model."
  value       = module.painel.tabelas.painel
}

output "tabela_cache_polling" {
  description = "Name of the polling design's cache; null when it is not deployed."
  value       = module.painel.tabelas.cache_polling
}

output "arn_topico_reposicao" {
  description = "ARN of the topic ffv-lab-alerta-reposicao-estoque."
  value       = module.painel.arn_topico_reposicao
}

output "arn_topico_painel_operacao" {
  description = "ARN of the topic of the team that runs the panel."
  value       = module.painel.arn_topico_operacao
}

output "id_mapeamento_consumidor" {
  description = "UUID of the event source mapping of ffv-lab-consumidor-pedidos."
  value       = module.painel.id_mapeamento
}
