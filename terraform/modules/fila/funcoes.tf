# Two functions and the mapping between them: the API only publishes, the consumer only consumes.

locals {
  acesso_gateway = {
    URL_GATEWAY               = var.gateway.url
    PARAMETRO_CHAVE_GATEWAY   = var.gateway.nome_parametro
    TIMEOUT_CONEXAO_GATEWAY_S = tostring(var.gateway.timeout_conexao_s)
    TIMEOUT_TOTAL_GATEWAY_S   = tostring(var.gateway.timeout_total_s)
  }

  ler_chave_gateway = {
    sid      = "LerChaveDoGateway"
    acoes    = ["ssm:GetParameter"]
    recursos = [var.gateway.arn_parametro]
  }

  # A transaction asks for the permission of each write in it; there is no action of its own:
  # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
  mover_efeito = {
    sid      = "MoverEfeito"
    acoes    = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
    recursos = [aws_dynamodb_table.efeitos.arn]
  }

  debitar_estoque = {
    sid      = "DebitarEstoque"
    acoes    = ["dynamodb:UpdateItem"]
    recursos = [aws_dynamodb_table.estoque.arn]
  }
}

module "api_pedidos" {
  source = "../funcao"

  id_logico          = "ApiPedidosFila"
  contexto           = var.contexto
  servico            = "fila"
  arn_topico_alertas = local.arn_topico
  tags               = local.tags

  ambiente_variaveis = {
    URL_FILA_PEDIDOS      = aws_sqs_queue.pedidos.url
    TABELA_IDEMPOTENCIA   = aws_dynamodb_table.idempotencia_api.name
    TABELA_EFEITOS        = aws_dynamodb_table.efeitos.name
    QUANTIDADE_MAXIMA     = tostring(var.limites.quantidade_maxima)
    VALOR_MAXIMO_CENTAVOS = tostring(var.limites.valor_maximo_centavos)
  }

  permissoes = [
    {
      sid      = "PublicarPedido"
      acoes    = ["sqs:SendMessage"]
      recursos = [aws_sqs_queue.pedidos.arn]
    },
    {
      sid      = "LembrarChavesDeIdempotencia"
      acoes    = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
      recursos = [aws_dynamodb_table.idempotencia_api.arn]
    },
    {
      sid      = "LerEfeito"
      acoes    = ["dynamodb:GetItem"]
      recursos = [aws_dynamodb_table.efeitos.arn]
    },
  ]
}

module "consumidor" {
  source = "../funcao"

  id_logico          = "ConsumidorFila"
  contexto           = var.contexto
  servico            = "fila"
  arn_topico_alertas = local.arn_topico
  tags               = local.tags

  ambiente_variaveis = merge(local.acesso_gateway, {
    TABELA_IDEMPOTENCIA = aws_dynamodb_table.processados.name
    TABELA_EFEITOS      = aws_dynamodb_table.efeitos.name
    TABELA_ESTOQUE      = aws_dynamodb_table.estoque.name
    PARALELISMO         = tostring(var.paralelismo)
  })

  permissoes = [
    {
      # The main queue only: who consumes has nothing to do in the DLQ, where SQS itself moves messages.
      sid      = "ConsumirPedidos"
      acoes    = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
      recursos = [local.arn_fila] # from the name: the queue checks itself against this function's timeout
    },
    {
      # No GetItem: the refused write brings the record back (ReturnValuesOnConditionCheckFailure).
      sid      = "LembrarProcessados"
      acoes    = ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
      recursos = [aws_dynamodb_table.processados.arn]
    },
    local.mover_efeito,
    local.debitar_estoque,
    local.ler_chave_gateway,
  ]
}

resource "aws_lambda_event_source_mapping" "consumidor" {
  event_source_arn                   = aws_sqs_queue.pedidos.arn
  function_name                      = module.consumidor.arn
  batch_size                         = 10
  maximum_batching_window_in_seconds = 5
  function_response_types            = ["ReportBatchItemFailures"]

  # Not reserved concurrency: the mapping would keep receiving what the function throttles, and good orders would reach the
  # DLQ without ever being tried. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
  scaling_config {
    maximum_concurrency = var.concorrencia_consumidor
  }

  tags = local.tags
}

# The design the queue replaces, only to be measured beside it.
module "sincrono" {
  source = "../funcao"
  count  = var.habilitar_desenho_minimo ? 1 : 0

  id_logico              = "PedidoSincronoFila"
  contexto               = var.contexto
  servico                = "fila"
  arn_topico_alertas     = local.arn_topico
  concorrencia_reservada = var.concorrencia_sincrono
  tags                   = local.tags

  ambiente_variaveis = merge(local.acesso_gateway, {
    TABELA_EFEITOS = aws_dynamodb_table.efeitos.name
    TABELA_ESTOQUE = aws_dynamodb_table.estoque.name
  })

  permissoes = [local.mover_efeito, local.debitar_estoque, local.ler_chave_gateway]
}

module "api" {
  source = "../api"

  nome               = "${var.projeto}-api"
  prefixo_url        = var.prefixo_url_api
  habilitar_api_http = var.contexto.habilitar_api_http
  prefixo_url_funcao = var.contexto.prefixo_url_funcao
  retencao_logs_dias = var.contexto.retencao_logs_dias
  chave_kms          = var.contexto.chave_kms
  limite_requisicoes = var.limite_requisicoes
  autorizador_jwt    = var.autorizador_jwt
  tags               = local.tags

  rotas = merge(
    {
      for rota in ["POST /api/pedidos", "GET /api/pedidos/{pedidoId}"] : rota => {
        nome_funcao   = module.api_pedidos.nome
        arn_invocacao = module.api_pedidos.arn_invocacao
        protegida     = var.autorizador_jwt != null
      }
    },
    {
      for f in module.sincrono : "POST /api/pedidos-sincrono" => {
        nome_funcao   = f.nome
        arn_invocacao = f.arn_invocacao
        protegida     = var.autorizador_jwt != null
      }
    },
  )
}
