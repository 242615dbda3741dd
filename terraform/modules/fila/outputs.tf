output "fila_pedidos_url" {
  description = "URL of the main queue."
  value       = aws_sqs_queue.pedidos.url
}

output "fila_pedidos_dlq_url" {
  description = "URL of the DLQ."
  value       = aws_sqs_queue.dlq.url
}

output "dominio" {
  description = "Base URL of the API: POST <dominio>/api/pedidos, GET <dominio>/api/pedidos/{pedidoId}."
  value       = module.api.url_da_rota["POST /api/pedidos"]
}

output "url_sincrono" {
  description = "URL of the synchronous design (POST); null when it is not deployed."
  value       = var.habilitar_desenho_minimo ? "${module.api.url_da_rota["POST /api/pedidos-sincrono"]}/api/pedidos-sincrono" : null
}

output "tabelas" {
  description = "Name of each table: processados, efeitos, estoque, idempotencia_api, descartes."
  value = {
    processados      = aws_dynamodb_table.processados.name
    efeitos          = aws_dynamodb_table.efeitos.name
    estoque          = aws_dynamodb_table.estoque.name
    idempotencia_api = aws_dynamodb_table.idempotencia_api.name
    descartes        = aws_dynamodb_table.descartes.name
  }
}

output "nome_alarme_dlq" {
  description = "Name of the alarm on the DLQ."
  value       = aws_cloudwatch_metric_alarm.dlq_nao_vazia.alarm_name
}

output "arn_topico_alertas" {
  description = "ARN of the topic the queue's alarms notify."
  value       = local.arn_topico
}

output "id_mapeamento" {
  description = "UUID of the event source mapping."
  value       = aws_lambda_event_source_mapping.consumidor.uuid
}

output "funcoes" {
  description = "Deployed functions by logical id: name, ARN, invoke ARN, role name."
  value = merge(
    {
      ApiPedidosFila = { nome = module.api_pedidos.nome, arn = module.api_pedidos.arn, arn_invocacao = module.api_pedidos.arn_invocacao, papel = module.api_pedidos.nome_papel }
      ConsumidorFila = { nome = module.consumidor.nome, arn = module.consumidor.arn, arn_invocacao = module.consumidor.arn_invocacao, papel = module.consumidor.nome_papel }
    },
    { for f in module.sincrono : "PedidoSincronoFila" => { nome = f.nome, arn = f.arn, arn_invocacao = f.arn_invocacao, papel = f.nome_papel } },
  )
}

output "politicas" {
  description = "Policy (JSON) of each function's role by logical id."
  value       = { ApiPedidosFila = module.api_pedidos.politica, ConsumidorFila = module.consumidor.politica }
}
