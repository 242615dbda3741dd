# Every value of the specification's table "Resources, exactly" that module saga carries.

mock_provider "aws" {
  mock_resource "aws_sqs_queue" {
    defaults = {
      arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-pedidos-criados"
      url = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-pedidos-criados"
    }
  }
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/simulado" }
  }
  mock_resource "aws_cloudwatch_log_group" {
    defaults = { arn = "arn:aws:logs:sa-east-1:123456789012:log-group:simulado" }
  }
  mock_resource "aws_dynamodb_table" {
    defaults = { arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/simulada" }
  }
  mock_resource "aws_lambda_function" {
    defaults = {
      arn        = "arn:aws:lambda:sa-east-1:123456789012:function:simulada"
      invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/simulada/invocations"
    }
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
}

override_resource {
  target = aws_sqs_queue.pedidos_criados_dlq
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-pedidos-criados-dlq"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-pedidos-criados-dlq"
  }
}

# The provider computes these attributes when the configuration leaves them out; "ausente" is then what it computes.
override_resource {
  target = aws_sqs_queue.compensacao_falhou
  values = {
    arn            = "arn:aws:sqs:sa-east-1:123456789012:cesta-compensacao-falhou"
    url            = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-compensacao-falhou"
    redrive_policy = "ausente"
  }
}

variables {
  contexto = {
    arquivo_modelo     = "../template.yaml"
    artefato           = { bucket = "cesta-artefatos", chave = "funcoes/abc.zip", hash = "abc=" }
    runtime            = "python3.13"
    arquitetura        = "arm64"
    ambiente           = "teste"
    particao           = "aws"
    regiao             = "sa-east-1"
    conta              = "123456789012"
    nivel_log          = "INFO"
    retencao_logs_dias = 30
    exigir_tls         = true
  }
  arn_topico_alertas      = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas"
  arquivo_asl             = "../asl/saga-pedido.asl.json"
  arquivo_asl_compensacao = "../asl/compensacao-manual.asl.json"
  gateway = {
    url               = "https://gateway.example.com"
    nome_parametro    = "/cesta/gateway/chave"
    arn_parametro     = "arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway/chave"
    timeout_conexao_s = 2
    timeout_total_s   = 4
  }
  limites = { quantidade_maxima = 1000, valor_maximo_centavos = 10000000 }
}

run "valores_exatos" {
  command = apply

  module {
    source = "./modules/saga"
  }

  assert {
    condition = (
      aws_dynamodb_table.estoque.name == "cesta-estoque"
      && aws_dynamodb_table.estoque.hash_key == "sku"
      && aws_dynamodb_table.estoque.range_key == null
      && one(aws_dynamodb_table.estoque.attribute).type == "S"
      && aws_dynamodb_table.estoque.billing_mode == "PAY_PER_REQUEST"
      && aws_dynamodb_table.estoque.point_in_time_recovery[0].enabled
    )
    error_message = "cesta-estoque: hash sku (S), on demand, PITR."
  }

  assert {
    condition = (
      aws_dynamodb_table.pedidos.name == "cesta-pedidos"
      && aws_dynamodb_table.pedidos.hash_key == "pedidoId"
      && aws_dynamodb_table.pedidos.range_key == null
      && { for a in aws_dynamodb_table.pedidos.attribute : a.name => a.type } == { pedidoId = "S", status = "S", atualizadoEm = "S" }
      && aws_dynamodb_table.pedidos.billing_mode == "PAY_PER_REQUEST"
      && aws_dynamodb_table.pedidos.point_in_time_recovery[0].enabled
    )
    error_message = "cesta-pedidos: hash pedidoId (S), on demand, PITR."
  }
  assert {
    condition     = aws_dynamodb_table.pedidos.stream_enabled && aws_dynamodb_table.pedidos.stream_view_type == "NEW_IMAGE"
    error_message = "cesta-pedidos: the stream that writes reservations off needs the new image, and no more."
  }
  assert {
    condition = (
      one(aws_dynamodb_table.pedidos.global_secondary_index).name == "por-status"
      && one(aws_dynamodb_table.pedidos.global_secondary_index).hash_key == "status"
      && one(aws_dynamodb_table.pedidos.global_secondary_index).range_key == "atualizadoEm"
      && one(aws_dynamodb_table.pedidos.global_secondary_index).projection_type == "INCLUDE"
    )
    error_message = "cesta-pedidos: the index por-status, by status and time, without the whole order."
  }

  assert {
    condition = (
      aws_dynamodb_table.idempotencia_api.name == "cesta-idempotencia-api"
      && aws_dynamodb_table.idempotencia_api.hash_key == "chave"
      && aws_dynamodb_table.idempotencia_api.ttl[0].attribute_name == "expiraEm"
      && aws_dynamodb_table.idempotencia_api.ttl[0].enabled
    )
    error_message = "cesta-idempotencia-api: hash chave, TTL expiraEm."
  }

  assert {
    condition = (
      aws_dynamodb_table.disjuntor.name == "cesta-disjuntor"
      && aws_dynamodb_table.disjuntor.hash_key == "operacao"
      && one(aws_dynamodb_table.disjuntor.attribute).type == "S"
    )
    error_message = "cesta-disjuntor: hash operacao (S)."
  }

  assert {
    condition = (
      local.acesso_gateway.TABELA_DISJUNTOR == "cesta-disjuntor"
      && local.acesso_gateway.DISJUNTOR_FALHAS == "5"
      && local.acesso_gateway.DISJUNTOR_JANELA_S == "120"
      && local.acesso_gateway.DISJUNTOR_ABERTO_S == "30"
    )
    error_message = "Every function that calls the gateway is told of the circuit breaker: 5 orders in 120 s, 30 s open."
  }

  assert {
    condition = (
      aws_sqs_queue.pedidos_criados.name == "cesta-pedidos-criados"
      && aws_sqs_queue.pedidos_criados.visibility_timeout_seconds == 30
      && aws_sqs_queue.pedidos_criados.message_retention_seconds == 86400
      && aws_sqs_queue.pedidos_criados.sqs_managed_sse_enabled
    )
    error_message = "cesta-pedidos-criados: visibility 30 s, retention 86,400 s, SSE-SQS."
  }

  assert {
    condition = jsondecode(aws_sqs_queue.pedidos_criados.redrive_policy) == {
      deadLetterTargetArn = "arn:aws:sqs:sa-east-1:123456789012:cesta-pedidos-criados-dlq"
      maxReceiveCount     = 5
    }
    error_message = "cesta-pedidos-criados: five receives, then cesta-pedidos-criados-dlq."
  }

  assert {
    condition = (
      aws_sqs_queue.pedidos_criados_dlq.name == "cesta-pedidos-criados-dlq"
      && aws_sqs_queue.pedidos_criados_dlq.message_retention_seconds == 1209600
      && aws_sqs_queue.pedidos_criados_dlq.sqs_managed_sse_enabled
      && jsondecode(aws_sqs_queue.pedidos_criados_dlq.redrive_allow_policy) == {
        redrivePermission = "byQueue"
        sourceQueueArns   = ["arn:aws:sqs:sa-east-1:123456789012:cesta-pedidos-criados"]
      }
    )
    error_message = "cesta-pedidos-criados-dlq: 14 days, SSE-SQS, only the input queue may redrive to it."
  }

  assert {
    condition = (
      aws_sqs_queue.compensacao_falhou.name == "cesta-compensacao-falhou"
      && aws_sqs_queue.compensacao_falhou.message_retention_seconds == 1209600
      && aws_sqs_queue.compensacao_falhou.sqs_managed_sse_enabled
      && aws_sqs_queue.compensacao_falhou.redrive_policy == "ausente"
    )
    error_message = "cesta-compensacao-falhou: retention 1,209,600 s, SSE-SQS, no redrive (people read it)."
  }

  assert {
    condition = alltrue([
      for fila in [aws_sqs_queue.pedidos_criados, aws_sqs_queue.pedidos_criados_dlq, aws_sqs_queue.compensacao_falhou] :
      jsondecode(fila.policy).Statement[0].Effect == "Deny"
      && jsondecode(fila.policy).Statement[0].Condition == { Bool = { "aws:SecureTransport" = "false" } }
      && endswith(jsondecode(fila.policy).Statement[0].Resource, ":${fila.name}")
    ])
    error_message = "Every queue refuses requests without TLS."
  }

  assert {
    condition     = aws_sfn_state_machine.saga.name == "cesta-saga-pedido" && aws_sfn_state_machine.saga.type == "STANDARD"
    error_message = "cesta-saga-pedido is a STANDARD machine: a charge is not run again by the platform."
  }

  assert {
    condition = (
      aws_sfn_state_machine.saga.logging_configuration[0].level == "ALL"
      && aws_sfn_state_machine.saga.logging_configuration[0].include_execution_data
      && endswith(aws_sfn_state_machine.saga.logging_configuration[0].log_destination, ":*")
    )
    error_message = "The machine logs at level ALL with execution data, to the group's ARN followed by :*."
  }

  assert {
    condition = (
      aws_cloudwatch_log_group.maquina.name == "/aws/vendedlogs/states/cesta-saga-pedido"
      && aws_cloudwatch_log_group.maquina.retention_in_days == 30
    )
    error_message = "/aws/vendedlogs/states/cesta-saga-pedido is kept for 30 days."
  }

  assert {
    condition     = aws_iam_role.maquina.name == "cesta-saga-pedido-role"
    error_message = "The machine's role is cesta-saga-pedido-role."
  }

  assert {
    condition = jsondecode(aws_iam_role.maquina.assume_role_policy).Statement[0].Condition == {
      StringEquals = { "aws:SourceAccount" = "123456789012" }
      ArnLike = { "aws:SourceArn" = [
        "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido",
        "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido:*",
      ] }
    }
    error_message = "Only this account's cesta-saga-pedido, its versions and its aliases may use the role."
  }

  assert {
    condition = (
      aws_sfn_state_machine.compensacao.name == "cesta-compensacao-manual"
      && aws_sfn_state_machine.compensacao.type == "STANDARD"
      && aws_sfn_state_machine.compensacao.logging_configuration[0].level == "ALL"
      && endswith(aws_sfn_state_machine.compensacao.logging_configuration[0].log_destination, ":*")
      && aws_cloudwatch_log_group.compensacao.name == "/aws/vendedlogs/states/cesta-compensacao-manual"
      && aws_cloudwatch_log_group.compensacao.retention_in_days == 30
      && aws_iam_role.compensacao.name == "cesta-compensacao-manual-role"
      && strcontains(aws_sfn_state_machine.compensacao.definition, "function:cesta-liberar-estoque")
      && !strcontains(aws_sfn_state_machine.compensacao.definition, "$${")
    )
    error_message = "cesta-compensacao-manual: STANDARD, logged at level ALL for 30 days, with a role of its own and every placeholder filled in."
  }

  assert {
    condition = jsondecode(aws_iam_role.compensacao.assume_role_policy).Statement[0].Condition == {
      StringEquals = { "aws:SourceAccount" = "123456789012" }
      ArnEquals    = { "aws:SourceArn" = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-compensacao-manual" }
    }
    error_message = "Only this account's cesta-compensacao-manual may use its role."
  }

  assert {
    condition     = strcontains(aws_sfn_state_machine.saga.definition, "function:cesta-estornar-pagamento") && !strcontains(aws_sfn_state_machine.saga.definition, "$${")
    error_message = "Every placeholder of the ASL is filled in."
  }

  assert {
    condition     = aws_lambda_event_source_mapping.iniciar_saga.function_response_types == toset(["ReportBatchItemFailures"])
    error_message = "One bad message must not send the whole batch back."
  }

  assert {
    condition     = aws_sqs_queue.pedidos_criados.visibility_timeout_seconds >= 6 * module.iniciar_saga.timeout_s + coalesce(aws_lambda_event_source_mapping.iniciar_saga.maximum_batching_window_in_seconds, 0)
    error_message = "The visibility is at least six times the function's timeout, plus the batching window."
  }

  assert {
    condition     = aws_lambda_event_source_mapping.iniciar_saga.scaling_config[0].maximum_concurrency >= 2
    error_message = "MaximumConcurrency is at least 2."
  }

  assert {
    condition = { for id, f in output.funcoes : id => f.nome } == {
      CriarPedido       = "cesta-criar-pedido"
      ConsultarPedido   = "cesta-consultar-pedido"
      IniciarSaga       = "cesta-iniciar-saga"
      ConfirmarPedido   = "cesta-confirmar-pedido"
      ReservarEstoque   = "cesta-reservar-estoque"
      LiberarEstoque    = "cesta-liberar-estoque"
      CobrarPagamento   = "cesta-cobrar-pagamento"
      EstornarPagamento = "cesta-estornar-pagamento"
    }
    error_message = "The eight functions carry the specification's names."
  }

  assert {
    condition     = length(distinct([for f in output.funcoes : f.papel])) == 8
    error_message = "Every function has a role of its own."
  }
}

run "saga_pelo_apelido" {
  command = apply

  module {
    source = "./modules/saga"
  }

  assert {
    condition = (
      aws_sfn_state_machine.saga.publish
      && aws_sfn_alias.saga[0].name == "vigente"
      && { for r in aws_sfn_alias.saga[0].routing_configuration : r.state_machine_version_arn => r.weight } == {
        (aws_sfn_state_machine.saga.state_machine_version_arn) = 100
      }
      && output.versao_saga == "3"
      && output.arn_maquina_saga == "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido"
    )
    error_message = "Every definition is published, and the alias sends every new saga to the last one."
  }
}

run "dez_por_cento_na_versao_nova" {
  command = apply

  module {
    source = "./modules/saga"
  }

  variables {
    liberacao = { percentual = 10, versao_anterior = 2 }
  }

  assert {
    condition = { for r in aws_sfn_alias.saga[0].routing_configuration : r.state_machine_version_arn => r.weight } == {
      "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido:3" = 10
      "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido:2" = 90
    }
    error_message = "Ten in a hundred run the new version, the others the one before it."
  }
}

run "de_volta_a_versao_anterior" {
  command = apply

  module {
    source = "./modules/saga"
  }

  variables {
    liberacao = { percentual = 0, versao_anterior = 2 }
  }

  assert {
    condition = { for r in aws_sfn_alias.saga[0].routing_configuration : r.state_machine_version_arn => r.weight } == {
      "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido:2" = 100
    }
    error_message = "Rolled back, every new saga runs the previous version."
  }
}

# The version deployed by the runs above is known when this one plans.
run "liberacao_da_mesma_versao" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    liberacao = { percentual = 10, versao_anterior = 3 }
  }

  expect_failures = [aws_sfn_alias.saga]
}

run "liberacao_sem_numeros_inteiros" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    liberacao = { percentual = 100, versao_anterior = 0 }
  }

  expect_failures = [var.liberacao]
}

run "sem_apelido" {
  command = apply

  module {
    source = "./modules/saga"
  }

  variables {
    maquina_por_apelido = false
  }

  assert {
    condition     = length(aws_sfn_alias.saga) == 0 && !aws_sfn_state_machine.saga.publish && output.versao_saga == null
    error_message = "Without an alias nothing is published."
  }
}

run "liberacao_sem_apelido" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    maquina_por_apelido = false
    liberacao           = { percentual = 10, versao_anterior = 2 }
  }

  expect_failures = [var.liberacao]
}

run "gateway_com_limites_trocados" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    gateway = {
      url               = "https://gateway.example.com"
      nome_parametro    = "/cesta/gateway/chave"
      arn_parametro     = "arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway/chave"
      timeout_conexao_s = 5
      timeout_total_s   = 4
    }
  }

  expect_failures = [var.gateway]
}

run "disjuntor_um_so_pedido" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    disjuntor = { falhas = 1 }
  }

  expect_failures = [var.disjuntor]
}

run "disjuntor_falhas_quebradas" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    disjuntor = { falhas = 2.5 }
  }

  expect_failures = [var.disjuntor]
}

run "disjuntor_janela_menor_que_uma_chamada" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    disjuntor = { janela_s = 4 }
  }

  expect_failures = [var.disjuntor]
}

run "disjuntor_janela_sem_fim" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    disjuntor = { janela_s = 3601 }
  }

  expect_failures = [var.disjuntor]
}

run "disjuntor_aberto_por_nada" {
  command = plan

  module {
    source = "./modules/saga"
  }

  variables {
    disjuntor = { aberto_s = 0 }
  }

  expect_failures = [var.disjuntor]
}
