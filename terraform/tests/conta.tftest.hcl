# An account with only what it has to say: its environment, its gateway and the artifact. tests/infra/ reads the result.

mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }
  mock_resource "aws_sqs_queue" {
    defaults = { arn = "arn:aws:sqs:sa-east-1:123456789012:fila" }
  }
  mock_resource "aws_dynamodb_table" {
    defaults = {
      arn        = "arn:aws:dynamodb:sa-east-1:123456789012:table/tabela"
      stream_arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/tabela/stream/2026-01-01T00:00:00.000"
    }
  }
  mock_resource "aws_s3_bucket" {
    defaults = { arn = "arn:aws:s3:::cesta-artefatos-123456789012-sa-east-1" }
  }
  mock_resource "aws_cloudwatch_log_group" {
    defaults = { arn = "arn:aws:logs:sa-east-1:123456789012:log-group:conta" }
  }
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/conta" }
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
      arn        = "arn:aws:lambda:sa-east-1:123456789012:function:conta"
      invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/conta/invocations"
    }
  }
  mock_resource "aws_cloudwatch_event_rule" {
    defaults = { arn = "arn:aws:events:sa-east-1:123456789012:rule/conta" }
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
  target = module.painel.aws_sns_topic.operacao
  values = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-painel-operacao" }
}

override_resource {
  target = module.painel.aws_sns_topic.reposicao
  values = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-alerta-reposicao-estoque" }
}

override_resource {
  target = module.fila.aws_sns_topic.alertas
  values = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas" }
}

override_resource {
  target = module.fila.aws_sns_topic_policy.alertas
  values = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas" }
}

variables {
  ambiente           = "producao"
  arquivo_artefato   = "tests/dados/artefato.zip"
  url_gateway        = "https://gateway.example.com"
  chave_gateway      = "chave-de-teste"
  destinos_alertas   = ["plantao@example.com", "gerencia@example.com"]
  destinos_reposicao = ["estoque@example.com"]
}

run "aplicar" {
  command = apply

  assert {
    condition     = output.ambiente == "producao" && output.url_gateway_simulado == null && output.nome_funcao_sincrono == null
    error_message = "Production has no stand-in and no minimal design."
  }

  assert {
    condition = nonsensitive(toset([for a in aws_sns_topic_subscription.destino : "${a.protocol} ${a.endpoint} ${a.topic_arn}"])) == toset([
      "email plantao@example.com arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas",
      "email gerencia@example.com arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas",
      "email plantao@example.com arn:aws:sns:sa-east-1:123456789012:ffv-lab-painel-operacao",
      "email gerencia@example.com arn:aws:sns:sa-east-1:123456789012:ffv-lab-painel-operacao",
      "email plantao@example.com arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas",
      "email gerencia@example.com arn:aws:sns:sa-east-1:123456789012:ffv-lab-fila-alertas",
      "email estoque@example.com arn:aws:sns:sa-east-1:123456789012:ffv-lab-alerta-reposicao-estoque",
    ])
    error_message = "Each operations topic tells each of destinos_alertas, the stores' topic destinos_reposicao, and neither the other's."
  }
}
