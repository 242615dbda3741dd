# The panel's functions: what each one is told and what it may touch.

locals {
  alarme_de_lote = { limiar = 0, periodo_s = 300, periodos = 2 }
  escrever_painel = {
    sid      = "GravarNoPainel"
    acoes    = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
    recursos = [aws_dynamodb_table.painel.arn]
  }
  avisar_reposicao = {
    sid      = "AvisarReposicao"
    acoes    = ["sns:Publish"]
    recursos = [aws_sns_topic.reposicao.arn]
  }
}

module "consumidor" {
  source = "../funcao"

  id_logico          = "ConsumidorPedidos"
  contexto           = var.contexto
  servico            = "painel"
  arn_topico_alertas = aws_sns_topic.operacao.arn
  alarme_erros       = local.alarme_de_lote

  ambiente_variaveis = {
    TABELA_PAINEL        = aws_dynamodb_table.painel.name
    ARN_TOPICO_REPOSICAO = aws_sns_topic.reposicao.arn
  }

  recurso_curinga_justificado = "dynamodb:ListStreams takes no resource"
  permissoes = concat(
    [
      {
        sid      = "LerStream"
        acoes    = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
        recursos = [local.origem.arn_stream]
      },
      # ListStreams takes no resource: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
      { sid = "ListarStreams", acoes = ["dynamodb:ListStreams"], recursos = ["*"] },
      local.escrever_painel,
      local.avisar_reposicao,
      # The mapping sends what it discards with this role.
      { sid = "GuardarDescartados", acoes = ["sqs:SendMessage"], recursos = [aws_sqs_queue.dlq.arn] },
    ],
    var.destino_falhas != "s3" ? [] : [
      # The suffix is the object, whose key the mapping chooses.
      { sid = "GuardarDescartadosS3", acoes = ["s3:PutObject"], recursos = ["${aws_s3_bucket.falhas[0].arn}/*"] },
      { sid = "ConferirBalde", acoes = ["s3:ListBucket"], recursos = [aws_s3_bucket.falhas[0].arn] },
    ],
  )
}

resource "aws_lambda_event_source_mapping" "consumidor" {
  event_source_arn  = local.origem.arn_stream
  function_name     = module.consumidor.arn
  starting_position = var.posicao_inicial

  batch_size                         = 100
  maximum_batching_window_in_seconds = 1
  bisect_batch_on_function_error     = true
  maximum_retry_attempts             = 3
  # Throttled, a record is tried until the stream drops it at 24 h, and nothing says so. Before that it goes to the
  # on-failure destination, with time left to read it from the stream.
  maximum_record_age_in_seconds = var.idade_maxima_registro_s
  function_response_types       = ["ReportBatchItemFailures"]

  # Creations, removals and expirations would only be paid for and skipped.
  filter_criteria {
    filter {
      pattern = jsonencode({ eventName = ["MODIFY"] })
    }
  }

  destination_config {
    on_failure {
      destination_arn = var.destino_falhas == "s3" ? aws_s3_bucket.falhas[0].arn : aws_sqs_queue.dlq.arn
    }
  }

  lifecycle {
    precondition {
      condition     = local.origem.stream_ligado && local.origem.tipo_imagem == "NEW_AND_OLD_IMAGES"
      error_message = "The stream must be NEW_AND_OLD_IMAGES: without the old image no restock alert can ever be decided, and nothing would fail."
    }
  }
}

module "reprocessar" {
  source = "../funcao"

  id_logico          = "ReprocessarDlq"
  contexto           = var.contexto
  servico            = "painel"
  arn_topico_alertas = aws_sns_topic.operacao.arn

  ambiente_variaveis = {
    TABELA_PAINEL        = aws_dynamodb_table.painel.name
    ARN_TOPICO_REPOSICAO = aws_sns_topic.reposicao.arn
    URL_DLQ_CONSUMIDOR   = aws_sqs_queue.dlq.url
  }

  recurso_curinga_justificado = !var.stream_por_curinga ? null : "the local engine checks the Streams API against *, whatever stream is named"
  permissoes = concat(
    [
      # The message says which shard and from where: the stream itself is never described.
      {
        sid   = "LerStream"
        acoes = ["dynamodb:GetRecords", "dynamodb:GetShardIterator"]
        # The wildcard is for local engines alone, which do not resolve the stream's ARN; see the variable.
        recursos = [var.stream_por_curinga ? "*" : local.origem.arn_stream]
      },
      local.escrever_painel,
      local.avisar_reposicao,
      { sid = "TirarDaFila", acoes = ["sqs:DeleteMessage", "sqs:ReceiveMessage"], recursos = [aws_sqs_queue.dlq.arn] },
    ],
    var.destino_falhas != "s3" ? [] : [
      # The suffix is the object, whose key the mapping chose.
      { sid = "LerDescartadosS3", acoes = ["s3:GetObject"], recursos = ["${aws_s3_bucket.falhas[0].arn}/*"] },
    ],
  )
}

module "reconciliar" {
  source = "../funcao"

  id_logico          = "ReconciliarPainel"
  contexto           = var.contexto
  servico            = "painel"
  arn_topico_alertas = aws_sns_topic.operacao.arn

  ambiente_variaveis = {
    TABELA_PAINEL        = aws_dynamodb_table.painel.name
    TABELA_ORIGEM        = local.origem.nome
    ARN_TOPICO_REPOSICAO = aws_sns_topic.reposicao.arn
    ARN_TOPICO_OPERACAO  = aws_sns_topic.operacao.arn
    CARENCIA_S           = tostring(var.carencia_reconciliacao_s)
    STATUS_INICIAIS      = join(",", var.status_iniciais)
  }

  permissoes = [
    { sid = "LerPedidos", acoes = ["dynamodb:Scan"], recursos = [local.origem.arn] },
    {
      sid      = "CompararEMarcarLacunas"
      acoes    = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
      recursos = [aws_dynamodb_table.painel.arn]
    },
    { sid = "Avisar", acoes = ["sns:Publish"], recursos = [aws_sns_topic.reposicao.arn, aws_sns_topic.operacao.arn] },
  ]
}

resource "aws_lambda_permission" "reconciliar_pelo_alarme" {
  statement_id   = "alarme-perda-possivel"
  action         = "lambda:InvokeFunction"
  function_name  = module.reconciliar.nome
  principal      = "lambda.alarms.cloudwatch.amazonaws.com"
  source_account = var.contexto.conta
  source_arn     = local.arn_alarme_perda
}

module "api_funcao" {
  source = "../funcao"

  id_logico          = "PainelApi"
  contexto           = var.contexto
  servico            = "painel"
  arn_topico_alertas = aws_sns_topic.operacao.arn

  ambiente_variaveis = {
    TABELA_PAINEL         = aws_dynamodb_table.painel.name
    AUTENTICACAO          = var.habilitar_login ? "cognito" : "nenhuma"
    URL_LOGIN             = local.url_login
    CLIENTE_LOGIN         = var.habilitar_login ? aws_cognito_user_pool_client.painel[0].id : ""
    INTERVALO_CONSULTA_MS = tostring(var.intervalo_consulta_ms)
  }

  permissoes = [
    {
      sid      = "LerPainel"
      acoes    = ["dynamodb:Query"]
      recursos = [aws_dynamodb_table.painel.arn, "${aws_dynamodb_table.painel.arn}/index/GSI1", "${aws_dynamodb_table.painel.arn}/index/GSI2"]
    },
    { sid = "Reconhecer", acoes = ["dynamodb:UpdateItem"], recursos = [aws_dynamodb_table.painel.arn] },
  ]
}
