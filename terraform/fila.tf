# Cadência, the peak: the API records orders on a queue and a consumer works at its own pace.

module "fila" {
  source = "./modules/fila"

  contexto                 = local.contexto
  gateway                  = local.gateway
  limites                  = var.limites_pedido
  prefixo_url_api          = var.prefixo_url_api
  limite_requisicoes       = var.limite_requisicoes
  autorizador_jwt          = var.autorizador_jwt
  concorrencia_consumidor  = var.concorrencia_consumidor_fila
  habilitar_desenho_minimo = var.habilitar_desenho_minimo
  concorrencia_sincrono    = var.concorrencia_sincrono_fila
  chave_kms_alertas        = local.chave_kms_alertas
}

variable "concorrencia_consumidor_fila" {
  description = "Batches of the queue worked on at once (2 to 1000): the pace kept at a peak."
  type        = number
  default     = 5
}

variable "concorrencia_sincrono_fila" {
  description = "Reserved concurrency of the synchronous design measured beside the queue, when it is deployed."
  type        = number
  default     = 15
}

output "fila_pedidos_url" {
  description = "URL of the queue ffv-lab-fila-pedidos."
  value       = module.fila.fila_pedidos_url
}

output "fila_pedidos_dlq_url" {
  description = "URL of the queue's DLQ."
  value       = module.fila.fila_pedidos_dlq_url
}

output "dominio" {
  description = "Base URL of the queue's API: POST <dominio>/api/pedidos."
  value       = module.fila.dominio
}

output "url_api_fila" {
  description = "POST here to record an order on the queue."
  value       = "${module.fila.dominio}/api/pedidos"
}

output "url_sincrono_fila" {
  description = "POST here for the synchronous design; null when it is not deployed."
  value       = module.fila.url_sincrono
}

output "tabelas_fila" {
  description = "Tables of the queue's side: processados, efeitos, estoque, idempotencia_api, descartes."
  value       = module.fila.tabelas
}

output "nome_alarme_dlq_fila" {
  description = "Name of the alarm on the queue's DLQ."
  value       = module.fila.nome_alarme_dlq
}

output "arn_topico_alertas_fila" {
  description = "ARN of the topic the queue's alarms notify."
  value       = module.fila.arn_topico_alertas
}

output "id_mapeamento_fila" {
  description = "UUID of the event source mapping of the queue's consumer."
  value       = module.fila.id_mapeamento
}
