output "stream_arn" {
  description = "ARN of the stream of pedidos_cadencia."
  value       = local.origem.arn_stream
}

output "dlq_url" {
  description = "URL of the consumer's on-failure queue."
  value       = aws_sqs_queue.dlq.url
}

output "url_painel" {
  description = "Address of the manager's page."
  value       = "${module.api.url}/painel"
}

output "url_api" {
  description = "Base URL of the panel's API, without a trailing slash."
  value       = module.api.url
}

output "tabelas" {
  description = "Names of the source table, the read model, and the polling design's cache (null when it is not deployed)."
  value = {
    origem        = local.origem.nome
    painel        = aws_dynamodb_table.painel.name
    cache_polling = one(aws_dynamodb_table.cache_polling[*].name)
  }
}

output "arn_topico_reposicao" {
  description = "ARN of the restock topic."
  value       = aws_sns_topic.reposicao.arn
}

output "arn_topico_operacao" {
  description = "ARN of the topic of the team that runs the panel."
  value       = aws_sns_topic.operacao.arn
}

output "id_mapeamento" {
  description = "UUID of the consumer's event source mapping."
  value       = aws_lambda_event_source_mapping.consumidor.uuid
}

output "id_diretorio_usuarios" {
  description = "Id of the Cognito user pool; null without sign-in."
  value       = one(aws_cognito_user_pool.painel[*].id)
}

output "funcoes" {
  description = "Function name, ARN and role by logical id."
  value = merge(
    {
      ConsumidorPedidos = { nome = module.consumidor.nome, arn = module.consumidor.arn, papel = module.consumidor.nome_papel }
      ReprocessarDlq    = { nome = module.reprocessar.nome, arn = module.reprocessar.arn, papel = module.reprocessar.nome_papel }
      ReconciliarPainel = { nome = module.reconciliar.nome, arn = module.reconciliar.arn, papel = module.reconciliar.nome_papel }
      PainelApi         = { nome = module.api_funcao.nome, arn = module.api_funcao.arn, papel = module.api_funcao.nome_papel }
    },
    { for m in module.polling : "PainelPolling" => { nome = m.nome, arn = m.arn, papel = m.nome_papel } },
  )
}
