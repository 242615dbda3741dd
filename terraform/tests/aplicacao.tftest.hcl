# The whole root applied to a mocked provider: nothing is called, every value Terraform would send is known. Each ARN the
# policies name is given here, so that a policy can be compared with the resource it should reach.
# tests/infra/ applies this same file and reads the resulting state.

mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }
  mock_resource "aws_s3_bucket" {
    defaults = { arn = "arn:aws:s3:::cesta-artefatos-123456789012-sa-east-1" }
  }
  mock_resource "aws_cloudwatch_log_group" {
    defaults = { arn = "arn:aws:logs:sa-east-1:123456789012:log-group:simulado" }
  }
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/simulado" }
  }
  mock_resource "aws_sns_topic" {
    defaults = { arn = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas" }
  }
  mock_resource "aws_sns_topic_policy" {
    defaults = { arn = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas" }
  }
  mock_resource "aws_sfn_state_machine" {
    defaults = {
      arn                       = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido"
      state_machine_version_arn = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido:3"
    }
  }
  mock_resource "aws_sfn_alias" {
    defaults = { arn = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido:vigente" }
  }
  mock_resource "aws_lambda_function" {
    defaults = {
      arn        = "arn:aws:lambda:sa-east-1:123456789012:function:simulado"
      invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/simulado/invocations"
    }
  }
  mock_resource "aws_cloudwatch_event_rule" {
    defaults = { arn = "arn:aws:events:sa-east-1:123456789012:rule/simulada" }
  }
  mock_resource "aws_apigatewayv2_api" {
    defaults = {
      id            = "api123"
      api_endpoint  = "https://api123.execute-api.sa-east-1.amazonaws.com"
      execution_arn = "arn:aws:execute-api:sa-east-1:123456789012:api123"
    }
  }
}

override_resource {
  target = module.saga.aws_sqs_queue.pedidos_criados
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-pedidos-criados"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-pedidos-criados"
  }
}

override_resource {
  target = module.saga.aws_sqs_queue.pedidos_criados_dlq
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-pedidos-criados-dlq"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-pedidos-criados-dlq"
  }
}

override_resource {
  target = module.saga.aws_sqs_queue.compensacao_falhou
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-compensacao-falhou"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-compensacao-falhou"
  }
}

override_resource {
  target = module.saga.aws_sfn_state_machine.compensacao
  values = {
    arn = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-compensacao-manual"
  }
}

override_resource {
  target = module.saga.aws_dynamodb_table.estoque
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-estoque"
  }
}

override_resource {
  target = module.saga.aws_dynamodb_table.pedidos
  values = {
    arn        = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-pedidos"
    stream_arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-pedidos/stream/2026-01-01T00:00:00.000"
  }
}

override_resource {
  target = module.saga.aws_dynamodb_table.idempotencia_api
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-idempotencia-api"
  }
}

override_resource {
  target = module.desenhos_minimos.aws_dynamodb_table.gateway
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-gateway-simulado"
  }
}

override_resource {
  target = module.desenhos_minimos.aws_ssm_parameter.chave_gateway
  values = {
    arn = "arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway-simulado/chave"
  }
}

override_resource {
  target = aws_ssm_parameter.chave_gateway
  values = {
    arn = "arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway/chave"
  }
}

override_resource {
  target = module.saga.module.criar_pedido.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-criar-pedido"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-criar-pedido/invocations"
  }
}

override_resource {
  target = module.saga.module.consultar_pedido.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-consultar-pedido"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-consultar-pedido/invocations"
  }
}

override_resource {
  target = module.saga.module.iniciar_saga.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-iniciar-saga"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-iniciar-saga/invocations"
  }
}

override_resource {
  target = module.saga.module.confirmar_pedido.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-confirmar-pedido"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-confirmar-pedido/invocations"
  }
}

override_resource {
  target = module.saga.module.reservar_estoque.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-reservar-estoque"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-reservar-estoque/invocations"
  }
}

override_resource {
  target = module.saga.module.liberar_estoque.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-liberar-estoque"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-liberar-estoque/invocations"
  }
}

override_resource {
  target = module.saga.module.cobrar_pagamento.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-cobrar-pagamento"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-cobrar-pagamento/invocations"
  }
}

override_resource {
  target = module.saga.module.estornar_pagamento.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-estornar-pagamento"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-estornar-pagamento/invocations"
  }
}

override_resource {
  target = module.painel.aws_dynamodb_table.pedidos
  values = {
    arn        = "arn:aws:dynamodb:sa-east-1:123456789012:table/pedidos_cadencia"
    stream_arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/pedidos_cadencia/stream/2026-01-01T00:00:00.000"
  }
}

override_resource {
  target = module.painel.aws_dynamodb_table.painel
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/painel_operacao"
  }
}

override_resource {
  target = module.painel.aws_dynamodb_table.cache_polling
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cadencia_polling_cache"
  }
}

override_resource {
  target = module.painel.aws_sqs_queue.dlq
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-consumidor-pedidos-dlq"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/ffv-lab-consumidor-pedidos-dlq"
  }
}

override_resource {
  target = module.painel.aws_sns_topic.reposicao
  values = {
    arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-alerta-reposicao-estoque"
  }
}

override_resource {
  target = module.painel.aws_sns_topic.operacao
  values = {
    arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-painel-operacao"
  }
}

override_resource {
  target = module.fila.aws_sqs_queue.pedidos
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/ffv-lab-fila-pedidos"
  }
}

override_resource {
  target = module.fila.aws_sqs_queue.dlq
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos-dlq"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/ffv-lab-fila-pedidos-dlq"
  }
}

override_resource {
  target = module.fila.aws_dynamodb_table.processados
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-pedidos-processados"
  }
}

override_resource {
  target = module.fila.aws_dynamodb_table.efeitos
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-efeitos"
  }
}

override_resource {
  target = module.fila.aws_dynamodb_table.estoque
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-estoque"
  }
}

override_resource {
  target = module.fila.aws_dynamodb_table.idempotencia_api
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-idempotencia-api"
  }
}

override_resource {
  target = module.fila.aws_sns_topic.alertas
  values = {
    arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas"
  }
}

override_resource {
  target = module.fila.aws_sns_topic_policy.alertas
  values = {
    arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas"
  }
}

override_resource {
  target = module.desenhos_minimos.module.criar_pedido_sincrono.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-criar-pedido-sincrono"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-criar-pedido-sincrono/invocations"
  }
}

override_resource {
  target = module.desenhos_minimos.module.gateway_simulado.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-gateway-simulado"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-gateway-simulado/invocations"
  }
}

override_resource {
  target = module.fila.module.api_pedidos.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-fila-api-pedidos"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-fila-api-pedidos/invocations"
  }
}

override_resource {
  target = module.fila.module.consumidor.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-fila-consumidor-pedidos"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-fila-consumidor-pedidos/invocations"
  }
}

override_resource {
  target = module.fila.module.sincrono.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-fila-pedido-sincrono"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-fila-pedido-sincrono/invocations"
  }
}

override_resource {
  target = module.painel.module.api_funcao.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-painel-api"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-painel-api/invocations"
  }
}

override_resource {
  target = module.painel.module.consumidor.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-consumidor-pedidos"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-consumidor-pedidos/invocations"
  }
}

override_resource {
  target = module.painel.module.polling.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-polling-pedidos"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-polling-pedidos/invocations"
  }
}

override_resource {
  target = module.painel.module.reconciliar.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-reconciliar-painel"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-reconciliar-painel/invocations"
  }
}

override_resource {
  target = module.painel.module.reprocessar.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-reprocessar-dlq"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-reprocessar-dlq/invocations"
  }
}

override_resource {
  target = module.conferencias.aws_dynamodb_table.baixas
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-estoque-baixas"
  }
}

override_resource {
  target = module.conferencias.aws_dynamodb_table.conferencias
  values = {
    arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-conferencias"
  }
}

override_resource {
  target = module.conferencias.aws_sqs_queue.dlq
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-baixar-reserva-dlq"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-baixar-reserva-dlq"
  }
}

override_resource {
  target = module.conferencias.module.baixar_reserva.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-baixar-reserva"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-baixar-reserva/invocations"
  }
}

override_resource {
  target = module.conferencias.module.conferir_reservas.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-conferir-reservas"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-conferir-reservas/invocations"
  }
}

override_resource {
  target = module.conferencias.module.conferir_cobrancas.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-conferir-cobrancas"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:sa-east-1:123456789012:function:cesta-conferir-cobrancas/invocations"
  }
}

variables {
  ambiente                   = "teste"
  arquivo_artefato           = "tests/dados/artefato.zip"
  habilitar_gateway_simulado = true
  habilitar_desenho_minimo   = true
  permitir_injecao_falhas    = true
  chave_gateway              = "chave-de-teste"
}

run "aplicar" {
  command = apply

  assert {
    condition     = output.arn_maquina_saga == "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido"
    error_message = "arn_maquina_saga is the state machine's ARN."
  }
}

# The same root with a choice made, each from the one before: an update, as in an account.
run "com_rastreamento" {
  command = apply
  variables {
    rastreamento = true
  }
}

run "sem_apelido" {
  command = apply
  variables {
    maquina_por_apelido = false
  }
}

run "com_chave" {
  command = apply
  variables {
    chave_kms = "arn:aws:kms:sa-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
    painel    = { destino_falhas = "s3" }
  }
}

run "com_duas_chaves" {
  command = apply
  variables {
    chave_kms         = "arn:aws:kms:sa-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
    chave_kms_alertas = "arn:aws:kms:sa-east-1:123456789012:key/99999999-2222-3333-4444-555555555555"
  }
}

run "com_outra_chave" {
  command = apply
  variables {
    chave_kms             = "arn:aws:kms:sa-east-1:123456789012:key/22222222-2222-3333-4444-555555555555"
    chaves_kms_anteriores = ["arn:aws:kms:sa-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"]
  }
}

run "chave_retirada" {
  command = apply
  variables {
    chaves_kms_anteriores = ["arn:aws:kms:sa-east-1:123456789012:key/22222222-2222-3333-4444-555555555555"]
  }
}

# Everything else an account may choose, at once: each test looks at its own.
run "com_escolhas" {
  command = apply
  variables {
    runtime              = "python3.12"
    arquitetura          = "x86_64"
    retencao_logs_dias   = 14
    limites_concorrencia = { CobrarPagamento = 7, CriarPedido = 3 }
    limite_requisicoes   = { por_segundo = 11, rajada = 22 }
    autorizador_jwt      = { emissor = "https://identidade.example.com", publico = ["loja"] }
  }
}
