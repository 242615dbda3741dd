# What the write-off of confirmed orders and the checks are made with, and what their variables refuse.

mock_provider "aws" {
  mock_resource "aws_sqs_queue" {
    defaults = {
      arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-baixar-reserva-dlq"
      url = "https://sqs.sa-east-1.amazonaws.com/123456789012/cesta-baixar-reserva-dlq"
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
  arn_topico_alertas = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas"
  tabelas = {
    estoque = { nome = "cesta-estoque", arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-estoque" }
    pedidos = { nome = "cesta-pedidos", arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-pedidos" }
  }
  stream_pedidos   = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-pedidos/stream/2026-01-01T00:00:00.000"
  fila_humana      = { url = "https://sqs/cesta-compensacao-falhou", arn = "arn:aws:sqs:sa-east-1:123456789012:cesta-compensacao-falhou", retencao_s = 1209600 }
  arn_maquina_saga = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido"
  gateway = {
    url               = "https://gateway.example.com"
    nome_parametro    = "/cesta/gateway/chave"
    arn_parametro     = "arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway/chave"
    timeout_conexao_s = 2
    timeout_total_s   = 4
  }
  disjuntor = {
    variaveis  = { TABELA_DISJUNTOR = "cesta-disjuntor" }
    arn_tabela = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-disjuntor"
  }
  reservas                  = { intervalo_min = 5, limite_s = 900, limite_decisao_s = 604800, maximo_itens = 5000 }
  cobrancas                 = { intervalo_min = 15, limite_s = 1800, janela_s = 259200, reaviso_s = 1123200, maximo_consultas = 200 }
  habilitar_agenda          = true
  alarme_conferencia_parada = true
}

run "valores" {
  command = apply

  module {
    source = "./modules/conferencias"
  }

  assert {
    condition = (
      aws_dynamodb_table.baixas.name == "cesta-estoque-baixas" && aws_dynamodb_table.baixas.hash_key == "pedidoId"
      && one(aws_dynamodb_table.baixas.ttl).attribute_name == "expiraEm" && one(aws_dynamodb_table.baixas.ttl).enabled
      && aws_dynamodb_table.baixas.billing_mode == "PAY_PER_REQUEST" && one(aws_dynamodb_table.baixas.point_in_time_recovery).enabled
    )
    error_message = "cesta-estoque-baixas: hash pedidoId, TTL on expiraEm, on demand, PITR."
  }
  assert {
    condition = (
      aws_dynamodb_table.conferencias.name == "cesta-conferencias" && aws_dynamodb_table.conferencias.hash_key == "nome"
      && one(aws_dynamodb_table.conferencias.ttl).attribute_name == "expiraEm" && one(aws_dynamodb_table.conferencias.ttl).enabled
    )
    error_message = "cesta-conferencias: hash nome, TTL on expiraEm."
  }
  assert {
    condition = (
      aws_sqs_queue.dlq.name == "cesta-baixar-reserva-dlq" && aws_sqs_queue.dlq.message_retention_seconds == 1209600
      && aws_sqs_queue.dlq.sqs_managed_sse_enabled && strcontains(aws_sqs_queue.dlq.policy, "aws:SecureTransport")
    )
    error_message = "The DLQ keeps 14 days, encrypted, TLS only."
  }
  assert {
    condition = (
      aws_lambda_event_source_mapping.baixar_reserva.event_source_arn == var.stream_pedidos
      && aws_lambda_event_source_mapping.baixar_reserva.maximum_retry_attempts == 3
      && aws_lambda_event_source_mapping.baixar_reserva.maximum_record_age_in_seconds == 79200
      && aws_lambda_event_source_mapping.baixar_reserva.bisect_batch_on_function_error
      && tolist(aws_lambda_event_source_mapping.baixar_reserva.function_response_types) == tolist(["ReportBatchItemFailures"])
      && one(one(aws_lambda_event_source_mapping.baixar_reserva.destination_config).on_failure).destination_arn == aws_sqs_queue.dlq.arn
    )
    error_message = "The mapping reports failures by item, bisects, tries three times more and keeps what it discards."
  }
  assert {
    condition = toset([for f in one(aws_lambda_event_source_mapping.baixar_reserva.filter_criteria).filter : f.pattern]) == toset([
      jsonencode({ eventName = ["MODIFY"], dynamodb = { NewImage = { status = { S = ["CONFIRMADO"] } } } }),
      jsonencode({ eventName = ["INSERT", "MODIFY"], dynamodb = { NewImage = { status = { S = ["REQUER_INTERVENCAO_HUMANA"] } } } }),
    ])
    error_message = "Only orders that become CONFIRMADO or a person's reach the function."
  }
  assert {
    condition = { for nome, a in aws_scheduler_schedule.conferencias : nome => [a.schedule_expression, a.state, a.group_name] } == {
      cesta-conferir-reservas  = ["rate(5 minutes)", "ENABLED", "cesta-conferencias"]
      cesta-conferir-cobrancas = ["rate(15 minutes)", "ENABLED", "cesta-conferencias"]
    }
    error_message = "Reservations every 5 minutes, charges every 15."
  }
  assert {
    condition = alltrue([
      for papel in values(aws_iam_role.agenda) : jsondecode(papel.assume_role_policy).Statement[0].Condition == {
        StringEquals = { "aws:SourceAccount" = "123456789012" }
        ArnEquals    = { "aws:SourceArn" = "arn:aws:scheduler:sa-east-1:123456789012:schedule-group/cesta-conferencias" }
      }
    ])
    error_message = "The schedules' roles serve the schedules of their own group."
  }
  assert {
    condition = alltrue([
      for politica in values(aws_iam_role_policy.agenda) :
      jsondecode(politica.policy).Statement[0].Action == ["lambda:InvokeFunction"] && length(jsondecode(politica.policy).Statement) == 1
    ])
    error_message = "A schedule's role invokes one function."
  }
  assert {
    condition     = length(aws_cloudwatch_metric_alarm.parada) == 2
    error_message = "A check that stops running raises an alarm."
  }
}

run "agenda_desligada" {
  command = plan

  module {
    source = "./modules/conferencias"
  }

  variables {
    habilitar_agenda          = false
    alarme_conferencia_parada = false
    disjuntor = {
      variaveis  = { TABELA_DISJUNTOR = "cesta-disjuntor" }
      arn_tabela = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-disjuntor"
    }
    reservas = { intervalo_min = 1, limite_s = 300, limite_decisao_s = 86400, maximo_itens = 1 }
  }

  assert {
    condition = (
      aws_scheduler_schedule.conferencias["cesta-conferir-reservas"].state == "DISABLED"
      && aws_scheduler_schedule.conferencias["cesta-conferir-reservas"].schedule_expression == "rate(1 minute)"
      && length(aws_cloudwatch_metric_alarm.parada) == 0
    )
    error_message = "Switched off, the schedule stays, and nobody is told that it does not run."
  }
}

run "limites_curtos" {
  command = plan

  module {
    source = "./modules/conferencias"
  }

  variables {
    reservas  = { intervalo_min = 7, limite_s = 60, limite_decisao_s = 86399, maximo_itens = 0 }
    cobrancas = { intervalo_min = 7, limite_s = 600, janela_s = 3600, reaviso_s = 1209600, maximo_consultas = 0 }
  }

  expect_failures = [var.reservas, var.cobrancas]
}
