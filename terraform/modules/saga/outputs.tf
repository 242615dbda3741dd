output "arn_maquina_saga" {
  description = "ARN of the state machine cesta-saga-pedido."
  value       = aws_sfn_state_machine.saga.arn
}

output "versao_saga" {
  description = "Number of the version of cesta-saga-pedido just deployed, for the next gradual release; null without an alias."
  value       = var.maquina_por_apelido ? element(split(":", aws_sfn_state_machine.saga.state_machine_version_arn), -1) : null
}

output "arn_maquina_compensacao" {
  description = "ARN of the state machine cesta-compensacao-manual."
  value       = aws_sfn_state_machine.compensacao.arn
}

output "nome_papel_maquina" {
  description = "Name of the state machine's role."
  value       = aws_iam_role.maquina.name
}

output "filas" {
  description = "The saga's queues: name, URL, ARN and retention (s) of each."
  value = {
    for chave, fila in {
      pedidos_criados     = aws_sqs_queue.pedidos_criados
      pedidos_criados_dlq = aws_sqs_queue.pedidos_criados_dlq
      compensacao_falhou  = aws_sqs_queue.compensacao_falhou
    } : chave => { nome = fila.name, url = fila.url, arn = fila.arn, retencao_s = fila.message_retention_seconds }
  }
}

output "stream_pedidos" {
  description = "ARN of the stream of cesta-pedidos (new images)."
  value       = aws_dynamodb_table.pedidos.stream_arn
}

output "tabelas" {
  description = "The saga's tables: name and ARN of each."
  value = {
    for chave, tabela in {
      estoque          = aws_dynamodb_table.estoque
      pedidos          = aws_dynamodb_table.pedidos
      idempotencia_api = aws_dynamodb_table.idempotencia_api
      disjuntor        = aws_dynamodb_table.disjuntor
    } : chave => { nome = tabela.name, arn = tabela.arn }
  }
}

output "funcoes" {
  description = "The saga's functions by logical id: name, ARN, invoke ARN, role name."
  value = {
    for id, f in {
      CriarPedido       = module.criar_pedido
      ConsultarPedido   = module.consultar_pedido
      IniciarSaga       = module.iniciar_saga
      ReservarEstoque   = module.reservar_estoque
      CobrarPagamento   = module.cobrar_pagamento
      ConfirmarPedido   = module.confirmar_pedido
      EstornarPagamento = module.estornar_pagamento
      LiberarEstoque    = module.liberar_estoque
    } : id => { nome = f.nome, arn = f.arn, arn_invocacao = f.arn_invocacao, papel = f.nome_papel }
  }
}

output "grupo_log_maquina" {
  description = "Name of the state machine's log group."
  value       = aws_cloudwatch_log_group.maquina.name
}

output "disjuntor" {
  description = "The gateway's circuit breaker, for any other function that calls the gateway: its variables, and its table's ARN, to read and update."
  value = {
    variaveis  = local.variaveis_disjuntor
    arn_tabela = aws_dynamodb_table.disjuntor.arn
  }
}
