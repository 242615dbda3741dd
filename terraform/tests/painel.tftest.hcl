# The panel's table "Resources, exactly", value by value, under a mocked provider.

mock_provider "aws" {
  mock_resource "aws_cloudwatch_log_group" {
    defaults = { arn = "arn:aws:logs:sa-east-1:123456789012:log-group:simulado" }
  }
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/simulado" }
  }
  mock_resource "aws_sns_topic" {
    defaults = { arn = "arn:aws:sns:sa-east-1:123456789012:simulado" }
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
  mock_resource "aws_dynamodb_table" {
    defaults = {
      arn        = "arn:aws:dynamodb:sa-east-1:123456789012:table/simulada"
      stream_arn = "arn:aws:dynamodb:sa-east-1:123456789012:table/pedidos_cadencia/stream/2026-01-01T00:00:00.000"
    }
  }
  mock_resource "aws_sqs_queue" {
    defaults = {
      arn = "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-consumidor-pedidos-dlq"
      url = "https://sqs.sa-east-1.amazonaws.com/123456789012/ffv-lab-consumidor-pedidos-dlq"
    }
  }
  mock_resource "aws_s3_bucket" {
    defaults = { arn = "arn:aws:s3:::ffv-lab-falhas-consumidor-123456789012-sa-east-1" }
  }
  mock_data "aws_dynamodb_table" {
    defaults = {
      name             = "pedidos_cadencia"
      arn              = "arn:aws:dynamodb:sa-east-1:123456789012:table/pedidos_cadencia"
      stream_arn       = "arn:aws:dynamodb:sa-east-1:123456789012:table/pedidos_cadencia/stream/2026-01-01T00:00:00.000"
      stream_enabled   = true
      stream_view_type = "NEW_IMAGE"
    }
  }
}

override_resource {
  target = aws_sns_topic.reposicao
  values = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-alerta-reposicao-estoque" }
}

override_resource {
  target = aws_sns_topic.operacao
  values = { arn = "arn:aws:sns:sa-east-1:123456789012:ffv-lab-painel-operacao" }
}

override_resource {
  target = module.reconciliar.aws_lambda_function.esta
  values = {
    arn        = "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-reconciliar-painel"
    invoke_arn = "arn:aws:apigateway:sa-east-1:lambda:path/2015-03-31/functions/simulado/invocations"
  }
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
}

run "valores_exatos" {
  command = apply

  module {
    source = "./modules/painel"
  }

  assert {
    condition = (
      aws_dynamodb_table.pedidos[0].name == "pedidos_cadencia"
      && aws_dynamodb_table.pedidos[0].hash_key == "PK"
      && aws_dynamodb_table.pedidos[0].range_key == "SK"
      && aws_dynamodb_table.pedidos[0].billing_mode == "PAY_PER_REQUEST"
      && aws_dynamodb_table.pedidos[0].point_in_time_recovery[0].enabled
      && aws_dynamodb_table.pedidos[0].stream_enabled
      && aws_dynamodb_table.pedidos[0].stream_view_type == "NEW_AND_OLD_IMAGES"
    )
    error_message = "pedidos_cadencia: keys, on demand, PITR, stream with both images (NEW_IMAGE alone silences every alert)."
  }
  assert {
    condition = alltrue([
      for g in aws_dynamodb_table.pedidos[0].global_secondary_index :
      (g.name == "GSI2" && g.range_key == "updated_at") || (g.name == "GSI3" && g.hash_key == "GSI3PK" && g.range_key == "GSI3SK")
    ]) && length(aws_dynamodb_table.pedidos[0].global_secondary_index) == 2
    error_message = "GSI2 is by updated_at, GSI3 is the store's pending queue."
  }
  assert {
    condition = (
      aws_dynamodb_table.painel.name == "painel_operacao"
      && aws_dynamodb_table.painel.hash_key == "PK"
      && aws_dynamodb_table.painel.range_key == "SK"
      && aws_dynamodb_table.painel.billing_mode == "PAY_PER_REQUEST"
      && aws_dynamodb_table.painel.tags["Projeto"] == "ffv-lab"
      && aws_dynamodb_table.painel.tags["Papel"] == "read-model-operacional"
    )
    error_message = "painel_operacao: keys, on demand, tags."
  }
  assert {
    condition     = aws_sns_topic.reposicao.name == "ffv-lab-alerta-reposicao-estoque"
    error_message = "The restock topic's name."
  }
  assert {
    condition     = aws_sqs_queue.dlq.name == "ffv-lab-consumidor-pedidos-dlq" && aws_sqs_queue.dlq.message_retention_seconds == 1209600
    error_message = "The on-failure queue keeps 14 days."
  }
  assert {
    condition = (
      module.consumidor.nome == "ffv-lab-consumidor-pedidos"
      && module.consumidor.timeout_s == 30
    )
    error_message = "The consumer's name and timeout."
  }
  assert {
    condition = (
      aws_lambda_event_source_mapping.consumidor.batch_size == 100
      && aws_lambda_event_source_mapping.consumidor.maximum_batching_window_in_seconds == 1
      && aws_lambda_event_source_mapping.consumidor.bisect_batch_on_function_error
      && aws_lambda_event_source_mapping.consumidor.maximum_retry_attempts == 3
      && aws_lambda_event_source_mapping.consumidor.maximum_record_age_in_seconds == 79200
      && contains(aws_lambda_event_source_mapping.consumidor.function_response_types, "ReportBatchItemFailures")
      && aws_lambda_event_source_mapping.consumidor.destination_config[0].on_failure[0].destination_arn == "arn:aws:sqs:sa-east-1:123456789012:ffv-lab-consumidor-pedidos-dlq"
      && aws_lambda_event_source_mapping.consumidor.event_source_arn == aws_dynamodb_table.pedidos[0].stream_arn
    )
    error_message = "The mapping: batch 100, window 1 s, bisect, 3 retries, 22 h, partial batch, on-failure to the queue."
  }
  assert {
    condition     = aws_cloudwatch_metric_alarm.perda_possivel.threshold == 1000 * (aws_lambda_event_source_mapping.consumidor.maximum_record_age_in_seconds - 3600)
    error_message = "The loss alarm is below the age the consumer is handed: above it, it would never fire."
  }
  assert {
    condition = [for f in one(aws_lambda_event_source_mapping.consumidor.filter_criteria).filter : f.pattern] == [
      jsonencode({ eventName = ["MODIFY"] })
    ]
    error_message = "Creations, removals and expirations never reach the function."
  }
  assert {
    condition     = aws_lambda_event_source_mapping.consumidor.starting_position == "TRIM_HORIZON"
    error_message = "By default nothing written while the mapping starts is missed."
  }
  assert {
    condition = (
      aws_cloudwatch_metric_alarm.atraso.alarm_name == "ffv-lab-consumidor-pedidos-iterator-age"
      && aws_cloudwatch_metric_alarm.atraso.namespace == "AWS/Lambda"
      && aws_cloudwatch_metric_alarm.atraso.metric_name == "IteratorAge"
      && aws_cloudwatch_metric_alarm.atraso.statistic == "Maximum"
      && aws_cloudwatch_metric_alarm.atraso.period == 60
      && aws_cloudwatch_metric_alarm.atraso.evaluation_periods == 3
      && aws_cloudwatch_metric_alarm.atraso.comparison_operator == "GreaterThanThreshold"
      && aws_cloudwatch_metric_alarm.atraso.threshold == 60000
      && aws_cloudwatch_metric_alarm.atraso.treat_missing_data == "notBreaching"
    )
    error_message = "IteratorAge, Maximum, 60 s x 3, above 60,000 ms, notBreaching."
  }
  assert {
    condition = (
      aws_cloudwatch_metric_alarm.dlq.metric_name == "ApproximateNumberOfMessagesVisible"
      && aws_cloudwatch_metric_alarm.dlq.threshold == 0
      && aws_cloudwatch_metric_alarm.dlq.dimensions["QueueName"] == "ffv-lab-consumidor-pedidos-dlq"
    )
    error_message = "Any visible message of the on-failure queue."
  }
  assert {
    condition = (
      aws_cloudwatch_metric_alarm.salto.namespace == "Cadencia"
      && aws_cloudwatch_metric_alarm.salto.metric_name == "TransicoesComSalto"
      && aws_cloudwatch_metric_alarm.salto.dimensions == tomap({ service = "painel" })
      && aws_cloudwatch_metric_alarm.salto.statistic == "Sum"
      && aws_cloudwatch_metric_alarm.salto.comparison_operator == "GreaterThanThreshold"
      && aws_cloudwatch_metric_alarm.salto.threshold == 0
      && aws_cloudwatch_metric_alarm.salto.treat_missing_data == "notBreaching"
    )
    error_message = "One jump fires an alarm."
  }
  # Correction 8: an operational alarm on the restock topic would page the stores.
  assert {
    condition = alltrue([
      for a in [aws_cloudwatch_metric_alarm.atraso, aws_cloudwatch_metric_alarm.dlq, aws_cloudwatch_metric_alarm.perda_possivel, aws_cloudwatch_metric_alarm.salto] :
      contains(a.alarm_actions, aws_sns_topic.operacao.arn) && !contains(a.alarm_actions, aws_sns_topic.reposicao.arn)
    ]) && aws_sns_topic.operacao.arn != aws_sns_topic.reposicao.arn
    error_message = "Alarms go to the operations topic, never to the stores' one."
  }
  assert {
    condition     = contains(aws_cloudwatch_metric_alarm.perda_possivel.alarm_actions, "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-reconciliar-painel")
    error_message = "The loss alarm starts the reconciliation."
  }
  # The alarm fires once: a run out of time and changes inside the grace are finished by the schedule.
  assert {
    condition = (
      aws_cloudwatch_event_rule.pendencia.schedule_expression == "rate(15 minutes)"
      && aws_cloudwatch_event_target.pendencia.rule == aws_cloudwatch_event_rule.pendencia.name
      && aws_cloudwatch_event_target.pendencia.arn == "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-reconciliar-painel"
      && jsondecode(aws_cloudwatch_event_target.pendencia.input) == { pendencia = true }
    )
    error_message = "The schedule asks for what was left, and never starts a whole reconciliation by itself."
  }
  assert {
    condition = (
      aws_lambda_permission.reconciliar_pela_agenda.function_name == "ffv-lab-reconciliar-painel"
      && aws_lambda_permission.reconciliar_pela_agenda.principal == "events.amazonaws.com"
      && aws_lambda_permission.reconciliar_pela_agenda.source_arn == aws_cloudwatch_event_rule.pendencia.arn
    )
    error_message = "That rule alone may start it."
  }
  assert {
    condition     = length(jsondecode(aws_cloudwatch_dashboard.painel.dashboard_body).widgets) == 7 && aws_cloudwatch_dashboard.painel.dashboard_name == "cadencia-painel"
    error_message = "One widget per question."
  }
  assert {
    condition     = output.stream_arn != null && output.dlq_url != null
    error_message = "Outputs stream_arn and dlq_url."
  }
  assert {
    condition     = length(aws_cognito_user_pool_client.painel) == 1 && !aws_cognito_user_pool_client.painel[0].generate_secret
    error_message = "Sign-in is on by default, with a public client: a page can keep no secret."
  }
  assert {
    condition = (
      length(aws_cognito_user_pool_client.painel[0].write_attributes) > 0
      && !contains(aws_cognito_user_pool_client.painel[0].write_attributes, "custom:lojas")
    )
    error_message = "A list of writable attributes, without custom:lojas: an empty one is ignored, and a manager could then give himself every store."
  }
  assert {
    condition = (
      aws_cognito_user_pool_client.painel[0].explicit_auth_flows == toset(["ALLOW_REFRESH_TOKEN_AUTH"])
      && aws_cognito_user_pool_client.painel[0].allowed_oauth_scopes == toset(["openid"])
    )
    error_message = "No token of the page carries aws.cognito.signin.user.admin, which changes attributes."
  }
}

run "latest_por_variavel" {
  command = plan
  module {
    source = "./modules/painel"
  }
  variables {
    posicao_inicial = "LATEST"
  }
  assert {
    condition     = aws_lambda_event_source_mapping.consumidor.starting_position == "LATEST"
    error_message = "The specification's starting position, by variable."
  }
}

# Break on purpose: a stream of NEW_IMAGE never fires an alert and never fails. The plan refuses it.
run "so_a_imagem_nova_e_recusada" {
  command = plan
  module {
    source = "./modules/painel"
  }
  variables {
    tabela_origem_existente = "pedidos_cadencia"
  }
  expect_failures = [aws_lambda_event_source_mapping.consumidor]
}

run "destino_s3" {
  command = apply
  module {
    source = "./modules/painel"
  }
  variables {
    destino_falhas           = "s3"
    habilitar_desenho_minimo = true
    habilitar_login          = false
  }
  assert {
    condition     = aws_lambda_event_source_mapping.consumidor.destination_config[0].on_failure[0].destination_arn == aws_s3_bucket.falhas[0].arn
    error_message = "With s3 the records themselves are kept."
  }
  assert {
    condition     = length(aws_cognito_user_pool.painel) == 0 && length(module.polling) == 1
    error_message = "No sign-in and the polling design, by variable."
  }
}
