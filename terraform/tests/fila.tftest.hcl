# The queue's table of resources, value by value, under a mocked provider; and what each role may do, exactly.

mock_provider "aws" {
  mock_resource "aws_cloudwatch_log_group" {
    defaults = { arn = "arn:aws:logs:sa-east-1:123456789012:log-group:simulado" }
  }
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/simulado" }
  }
  mock_resource "aws_sns_topic" {
    defaults = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas" }
  }
  mock_resource "aws_sns_topic_policy" {
    defaults = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas" }
  }
  mock_resource "aws_lambda_function" {
    defaults = {
      arn        = "arn:aws:lambda:sa-east-1:123456789012:function:simulado"
      invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/simulado/invocations"
    }
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
  target = aws_sqs_queue.pedidos
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/ffv-lab-fila-pedidos"
  }
}

override_resource {
  target = aws_sqs_queue.dlq
  values = {
    arn = "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos-dlq"
    url = "https://sqs.sa-east-1.amazonaws.com/123456789012/ffv-lab-fila-pedidos-dlq"
  }
}

override_resource {
  target = aws_dynamodb_table.processados
  values = { arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-pedidos-processados" }
}

override_resource {
  target = aws_dynamodb_table.efeitos
  values = { arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-efeitos" }
}

override_resource {
  target = aws_dynamodb_table.estoque
  values = { arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-estoque" }
}

override_resource {
  target = aws_dynamodb_table.idempotencia_api
  values = { arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-idempotencia-api" }
}

variables {
  contexto = {
    arquivo_modelo     = "../template.yaml"
    artefato           = { bucket = "artefatos", chave = "a.zip", hash = "aGFzaA==" }
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
  gateway = {
    url               = "https://gateway.example.com"
    nome_parametro    = "/cesta/gateway/chave"
    arn_parametro     = "arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway/chave"
    timeout_conexao_s = 2
    timeout_total_s   = 4
  }
  limites            = { quantidade_maxima = 1000, valor_maximo_centavos = 10000000 }
  limite_requisicoes = { por_segundo = 200, rajada = 400 }
}

run "valores_exatos" {
  command = apply

  module {
    source = "./modules/fila"
  }

  assert {
    condition = (
      aws_sqs_queue.pedidos.name == "ffv-lab-fila-pedidos"
      && aws_sqs_queue.pedidos.visibility_timeout_seconds == 60
      && aws_sqs_queue.pedidos.message_retention_seconds == 345600
      && aws_sqs_queue.pedidos.sqs_managed_sse_enabled
      && jsondecode(aws_sqs_queue.pedidos.redrive_policy) == {
        deadLetterTargetArn = "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos-dlq"
        maxReceiveCount     = 5
      }
    )
    error_message = "ffv-lab-fila-pedidos: visibility 60 s, retention 345,600 s, SSE, redrive to the DLQ after 5 receives."
  }
  assert {
    condition     = aws_sqs_queue.pedidos.visibility_timeout_seconds == 6 * module.consumidor.timeout_s
    error_message = "The visibility timeout is 6 times the consumer's timeout."
  }
  assert {
    condition = (
      aws_sqs_queue.dlq.name == "ffv-lab-fila-pedidos-dlq"
      && aws_sqs_queue.dlq.message_retention_seconds == 1209600
      && aws_sqs_queue.dlq.sqs_managed_sse_enabled
      && jsondecode(aws_sqs_queue.dlq.redrive_allow_policy) == {
        redrivePermission = "byQueue"
        sourceQueueArns   = ["arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos"]
      }
    )
    error_message = "The DLQ: 14 days, SSE, and only the main queue may send to it."
  }
  assert {
    condition = alltrue([
      for q in [aws_sqs_queue.pedidos, aws_sqs_queue.dlq] :
      jsondecode(q.policy).Statement[0].Effect == "Deny" && jsondecode(q.policy).Statement[0].Condition.Bool["aws:SecureTransport"] == "false"
    ])
    error_message = "Both queues refuse requests without TLS."
  }
  assert {
    condition = (
      aws_cloudwatch_metric_alarm.dlq_nao_vazia.alarm_name == "ffv-lab-fila-pedidos-dlq-nao-vazia"
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.namespace == "AWS/SQS"
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.metric_name == "ApproximateNumberOfMessagesVisible"
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.dimensions["QueueName"] == "ffv-lab-fila-pedidos-dlq"
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.statistic == "Maximum"
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.period == 300
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.evaluation_periods == 1
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.comparison_operator == "GreaterThanThreshold"
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.threshold == 0
      && aws_cloudwatch_metric_alarm.dlq_nao_vazia.treat_missing_data == "notBreaching"
      && contains(aws_cloudwatch_metric_alarm.dlq_nao_vazia.alarm_actions, "arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas")
    )
    error_message = "The DLQ alarm: visible messages, Maximum, 300 s x 1, > 0, notBreaching, to the topic."
  }
  assert {
    condition     = module.consumidor.nome == "ffv-lab-fila-consumidor-pedidos" && module.consumidor.timeout_s == 10
    error_message = "The consumer's name and timeout."
  }
  assert {
    condition = (
      aws_lambda_event_source_mapping.consumidor.batch_size == 10
      && aws_lambda_event_source_mapping.consumidor.maximum_batching_window_in_seconds == 5
      && aws_lambda_event_source_mapping.consumidor.function_response_types == toset(["ReportBatchItemFailures"])
      && aws_lambda_event_source_mapping.consumidor.scaling_config[0].maximum_concurrency >= 2
      && aws_lambda_event_source_mapping.consumidor.event_source_arn == aws_sqs_queue.pedidos.arn
    )
    error_message = "The mapping: batch 10, window 5 s, ReportBatchItemFailures, a ceiling of its own."
  }
  assert {
    condition = (
      aws_dynamodb_table.processados.name == "ffv-lab-fila-pedidos-processados"
      && aws_dynamodb_table.processados.hash_key == "PedidoId"
      && aws_dynamodb_table.processados.billing_mode == "PAY_PER_REQUEST"
      && aws_dynamodb_table.processados.ttl[0].attribute_name == "ExpiraEm"
      && aws_dynamodb_table.processados.ttl[0].enabled
      && aws_dynamodb_table.processados.point_in_time_recovery[0].enabled
    )
    error_message = "ffv-lab-fila-pedidos-processados: hash PedidoId, on demand, TTL ExpiraEm, PITR."
  }
  assert {
    condition = alltrue([
      for t in [aws_dynamodb_table.efeitos, aws_dynamodb_table.estoque] : t.point_in_time_recovery[0].enabled && length(t.ttl) == 0
    ])
    error_message = "Effects and stock are recoverable and never expire: the debit's marker outlives any redrive."
  }
  assert {
    condition     = toset(keys(output.funcoes)) == toset(["ApiPedidosFila", "ConsumidorFila"]) && output.url_sincrono == null
    error_message = "The synchronous design is not deployed unless its variable says so."
  }
  assert {
    condition     = output.fila_pedidos_url == aws_sqs_queue.pedidos.url && output.dominio == "https://api123.execute-api.sa-east-1.amazonaws.com"
    error_message = "Outputs fila_pedidos_url and dominio."
  }
  assert {
    condition     = length(jsondecode(aws_cloudwatch_dashboard.fila.dashboard_body).widgets) == 6
    error_message = "One widget per question."
  }
  assert {
    condition = alltrue([
      for q in [aws_sqs_queue.pedidos, aws_sqs_queue.dlq] : q.tags["Projeto"] == "ffv-lab-fila"
    ])
    error_message = "Tag Projeto = ffv-lab-fila."
  }
}

run "papel_do_consumidor" {
  command = apply

  module {
    source = "./modules/fila"
  }

  assert {
    condition = {
      for s in jsondecode(output.politicas["ConsumidorFila"]).Statement : s.Sid => { acoes = s.Action, recursos = s.Resource }
      if s.Sid != "EscreverOProprioLog"
      } == {
      ConsumirPedidos    = { acoes = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], recursos = ["arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos"] }
      LembrarProcessados = { acoes = ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"], recursos = ["arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-pedidos-processados"] }
      MoverEfeito        = { acoes = ["dynamodb:PutItem", "dynamodb:UpdateItem"], recursos = ["arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-efeitos"] }
      DebitarEstoque     = { acoes = ["dynamodb:UpdateItem"], recursos = ["arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-estoque"] }
      LerChaveDoGateway  = { acoes = ["ssm:GetParameter"], recursos = ["arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway/chave"] }
    }
    error_message = "The consumer reads the main queue only, never the DLQ, and writes its own tables."
  }
  assert {
    condition = {
      for s in jsondecode(output.politicas["ApiPedidosFila"]).Statement : s.Sid => { acoes = s.Action, recursos = s.Resource }
      if s.Sid != "EscreverOProprioLog"
      } == {
      PublicarPedido              = { acoes = ["sqs:SendMessage"], recursos = ["arn:aws:sqs:sa-east-1:123456789012:ffv-lab-fila-pedidos"] }
      LembrarChavesDeIdempotencia = { acoes = ["dynamodb:PutItem", "dynamodb:UpdateItem"], recursos = ["arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-idempotencia-api"] }
      LerEfeito                   = { acoes = ["dynamodb:GetItem"], recursos = ["arn:aws:dynamodb:sa-east-1:123456789012:table/ffv-lab-fila-efeitos"] }
    }
    error_message = "The API publishes, remembers keys and reads outcomes; it never touches stock or the gateway."
  }
}

run "desenho_sincrono_por_variavel" {
  command = apply

  module {
    source = "./modules/fila"
  }

  variables {
    habilitar_desenho_minimo = true
    concorrencia_sincrono    = 15
  }

  assert {
    condition     = output.funcoes["PedidoSincronoFila"].nome == "ffv-lab-fila-pedido-sincrono" && endswith(output.url_sincrono, "/api/pedidos-sincrono")
    error_message = "The synchronous design has its own function and route."
  }
}

run "sincrono_nunca_em_producao" {
  command = plan

  module {
    source = "./modules/fila"
  }

  variables {
    habilitar_desenho_minimo = true
    contexto = {
      arquivo_modelo     = "../template.yaml"
      artefato           = { bucket = "artefatos", chave = "a.zip", hash = "aGFzaA==" }
      runtime            = "python3.13"
      arquitetura        = "arm64"
      ambiente           = "producao"
      particao           = "aws"
      regiao             = "sa-east-1"
      conta              = "123456789012"
      nivel_log          = "INFO"
      retencao_logs_dias = 30
      exigir_tls         = true
    }
  }

  expect_failures = [var.habilitar_desenho_minimo]
}

run "gateway_lento_demais_para_o_consumidor" {
  command = plan

  module {
    source = "./modules/fila"
  }

  variables {
    gateway = {
      url               = "https://gateway.example.com"
      nome_parametro    = "/cesta/gateway/chave"
      arn_parametro     = "arn:aws:ssm:sa-east-1:123456789012:parameter/cesta/gateway/chave"
      timeout_conexao_s = 2
      timeout_total_s   = 8
    }
  }

  expect_failures = [var.gateway]
}
