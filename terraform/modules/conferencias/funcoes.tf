# The write-off of confirmed orders and the two checks: what each one is told and what it may touch.

locals {
  # The transaction of a write-off is checked by IAM item by item: a mark put, a reservation removed. The reader of the stream also
  # puts a mark for each order left to a person.
  baixar = [
    { sid = "MarcarBaixa", acoes = ["dynamodb:PutItem"], recursos = [aws_dynamodb_table.baixas.arn] },
    { sid = "MudarReserva", acoes = ["dynamodb:UpdateItem"], recursos = [var.tabelas.estoque.arn] },
  ]
}

module "baixar_reserva" {
  source = "../funcao"

  id_logico          = "BaixarReserva"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  alarme_erros       = { limiar = 0, periodo_s = 300, periodos = 2 }

  ambiente_variaveis = {
    TABELA_ESTOQUE        = var.tabelas.estoque.nome
    TABELA_ESTOQUE_BAIXAS = aws_dynamodb_table.baixas.name
  }

  recurso_curinga_justificado = "dynamodb:ListStreams takes no resource"
  permissoes = concat(local.baixar, [
    {
      sid      = "LerStream"
      acoes    = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
      recursos = [var.stream_pedidos]
    },
    # ListStreams takes no resource: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
    { sid = "ListarStreams", acoes = ["dynamodb:ListStreams"], recursos = ["*"] },
    # The mapping sends what it discards with this role.
    { sid = "GuardarDescartados", acoes = ["sqs:SendMessage"], recursos = [local.arn_dlq] },
  ])
}

resource "aws_lambda_event_source_mapping" "baixar_reserva" {
  event_source_arn  = var.stream_pedidos
  function_name     = module.baixar_reserva.arn
  starting_position = "TRIM_HORIZON"

  batch_size                         = 50
  maximum_batching_window_in_seconds = 1
  bisect_batch_on_function_error     = true
  maximum_retry_attempts             = 3
  maximum_record_age_in_seconds      = 79200 # to the queue 2 h before the stream would drop it without a word
  function_response_types            = ["ReportBatchItemFailures"]

  filter_criteria {
    filter {
      pattern = jsonencode({ eventName = ["MODIFY"], dynamodb = { NewImage = { status = { S = ["CONFIRMADO"] } } } })
    }
    # Counted, no more: orders the saga leaves to a person, whose item it may have had to create.
    filter {
      pattern = jsonencode({ eventName = ["INSERT", "MODIFY"], dynamodb = { NewImage = { status = { S = ["REQUER_INTERVENCAO_HUMANA"] } } } })
    }
  }

  destination_config {
    on_failure {
      destination_arn = aws_sqs_queue.dlq.arn
    }
  }
}

module "conferir_reservas" {
  source = "../funcao"

  id_logico          = "ConferirReservas"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas

  ambiente_variaveis = {
    TABELA_ESTOQUE          = var.tabelas.estoque.nome
    TABELA_ESTOQUE_BAIXAS   = aws_dynamodb_table.baixas.name
    TABELA_PEDIDOS          = var.tabelas.pedidos.nome
    TABELA_CONFERENCIAS     = aws_dynamodb_table.conferencias.name
    LIMITE_RESERVA_S        = tostring(var.reservas.limite_s)
    LIMITE_DECISAO_S        = tostring(var.reservas.limite_decisao_s)
    MAXIMO_ITENS_CONFERIDOS = tostring(var.reservas.maximo_itens)
  }

  permissoes = concat(local.baixar, [
    { sid = "PercorrerEstoque", acoes = ["dynamodb:Scan"], recursos = [var.tabelas.estoque.arn] },
    { sid = "LerPedidos", acoes = ["dynamodb:BatchGetItem"], recursos = [var.tabelas.pedidos.arn] },
    { sid = "LerBaixas", acoes = ["dynamodb:BatchGetItem"], recursos = [aws_dynamodb_table.baixas.arn] },
    {
      sid      = "LembrarOndeParou"
      acoes    = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
      recursos = [aws_dynamodb_table.conferencias.arn]
    },
  ])
}

module "conferir_cobrancas" {
  source = "../funcao"

  id_logico          = "ConferirCobrancas"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas

  ambiente_variaveis = merge(var.disjuntor.variaveis, {
    TABELA_PEDIDOS              = var.tabelas.pedidos.nome
    TABELA_CONFERENCIAS         = aws_dynamodb_table.conferencias.name
    URL_FILA_COMPENSACAO_FALHOU = var.fila_humana.url
    ARN_MAQUINA_SAGA            = var.arn_maquina_saga
    URL_GATEWAY                 = var.gateway.url
    PARAMETRO_CHAVE_GATEWAY     = var.gateway.nome_parametro
    TIMEOUT_CONEXAO_GATEWAY_S   = tostring(var.gateway.timeout_conexao_s)
    TIMEOUT_TOTAL_GATEWAY_S     = tostring(var.gateway.timeout_total_s)
    LIMITE_COBRANCA_S           = tostring(var.cobrancas.limite_s)
    JANELA_COBRANCA_S           = tostring(var.cobrancas.janela_s)
    REAVISO_S                   = tostring(var.cobrancas.reaviso_s)
    MAXIMO_CONSULTAS            = tostring(var.cobrancas.maximo_consultas)
  })

  permissoes = [
    { sid = "PercorrerPedidos", acoes = ["dynamodb:Query"], recursos = ["${var.tabelas.pedidos.arn}/index/por-status"] },
    { sid = "RelerPedido", acoes = ["dynamodb:GetItem"], recursos = [var.tabelas.pedidos.arn] },
    {
      sid      = "LembrarOndeParou"
      acoes    = ["dynamodb:GetItem", "dynamodb:PutItem"]
      recursos = [aws_dynamodb_table.conferencias.arn]
    },
    { sid = "PercorrerAvisos", acoes = ["dynamodb:Scan"], recursos = [aws_dynamodb_table.conferencias.arn] },
    { sid = "AvisarPessoa", acoes = ["sqs:SendMessage"], recursos = [var.fila_humana.arn] },
    { sid = "LembrarCircuitos", acoes = ["dynamodb:GetItem", "dynamodb:UpdateItem"], recursos = [var.disjuntor.arn_tabela] },
    { sid = "LerChaveDoGateway", acoes = ["ssm:GetParameter"], recursos = [var.gateway.arn_parametro] },
  ]
}
