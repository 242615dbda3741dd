output "ambiente" {
  description = "Name of the environment; the proofs refuse to run in production."
  value       = var.ambiente
}

output "arn_maquina_saga" {
  description = "ARN of the state machine cesta-saga-pedido."
  value       = module.saga.arn_maquina_saga
}

output "versao_saga" {
  description = "Number of the version of cesta-saga-pedido just deployed, for the next gradual release; null without an alias."
  value       = module.saga.versao_saga
}

output "arn_maquina_compensacao" {
  description = "ARN of the state machine cesta-compensacao-manual, which people start."
  value       = module.saga.arn_maquina_compensacao
}

output "url_fila_compensacao_falhou" {
  description = "URL of the human queue."
  value       = module.saga.filas.compensacao_falhou.url
}

output "url_fila_pedidos_criados" {
  description = "URL of the input queue."
  value       = module.saga.filas.pedidos_criados.url
}

output "url_fila_pedidos_criados_dlq" {
  description = "URL of the input queue's DLQ."
  value       = module.saga.filas.pedidos_criados_dlq.url
}

output "url_api" {
  description = "Base URL of the public API: POST <url>/pedidos, GET <url>/pedidos/{pedidoId}."
  value       = module.api.url
}

output "url_gateway_simulado" {
  description = "Base URL of the gateway stand-in; null when it is not deployed."
  value       = try(module.desenhos_minimos.gateway.url, null)
}

output "nome_funcao_sincrono" {
  description = "Name of the synchronous design's function; null when it is not deployed."
  value       = module.desenhos_minimos.nome_funcao_sincrono
}

output "arn_topico_alertas" {
  description = "ARN of the topic cesta-saga-alertas."
  value       = module.observabilidade.arn_topico_alertas
}

output "nome_alarme_compensacao" {
  description = "Name of the alarm on the human queue."
  value       = module.observabilidade.nome_alarme_compensacao
}

output "tabela_pedidos" {
  description = "Name of the orders table."
  value       = module.saga.tabelas.pedidos.nome
}

output "tabela_estoque" {
  description = "Name of the stock table."
  value       = module.saga.tabelas.estoque.nome
}

output "grupo_log_maquina" {
  description = "Name of the state machine's log group."
  value       = module.saga.grupo_log_maquina
}

output "nome_papel_maquina" {
  description = "Name of the state machine's role."
  value       = module.saga.nome_papel_maquina
}

output "funcoes" {
  description = "Name of each deployed function by logical id."
  value       = { for id, f in local.funcoes : id => f.nome }
}

output "papeis" {
  description = "Name of each deployed function's role by logical id."
  value       = { for id, f in local.funcoes : id => f.papel }
}

locals {
  funcoes = merge(module.saga.funcoes, module.conferencias.funcoes, module.desenhos_minimos.funcoes, module.painel.funcoes, module.fila.funcoes)
}
