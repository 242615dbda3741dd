# The eight functions of the saga: what each one is told and what it may touch. One block each, so that a function waits
# only for what it uses.

locals {
  variaveis_disjuntor = {
    TABELA_DISJUNTOR   = aws_dynamodb_table.disjuntor.name
    DISJUNTOR_FALHAS   = tostring(var.disjuntor.falhas)
    DISJUNTOR_JANELA_S = tostring(var.disjuntor.janela_s)
    DISJUNTOR_ABERTO_S = tostring(var.disjuntor.aberto_s)
  }

  acesso_gateway = merge(local.variaveis_disjuntor, {
    URL_GATEWAY               = var.gateway.url
    PARAMETRO_CHAVE_GATEWAY   = var.gateway.nome_parametro
    TIMEOUT_CONEXAO_GATEWAY_S = tostring(var.gateway.timeout_conexao_s)
    TIMEOUT_TOTAL_GATEWAY_S   = tostring(var.gateway.timeout_total_s)
  })

  # The key alias/aws/ssm lets whoever may read a SecureString through SSM decrypt it, so no kms:Decrypt is granted:
  # https://docs.aws.amazon.com/kms/latest/developerguide/services-parameter-store.html
  ler_chave_gateway = {
    sid      = "LerChaveDoGateway"
    acoes    = ["ssm:GetParameter"]
    recursos = [var.gateway.arn_parametro]
  }

  lembrar_circuitos = {
    sid      = "LembrarCircuitos"
    acoes    = ["dynamodb:GetItem", "dynamodb:UpdateItem"]
    recursos = [aws_dynamodb_table.disjuntor.arn]
  }

  # What any function that calls the gateway may touch for it.
  permissoes_gateway = [local.ler_chave_gateway, local.lembrar_circuitos]

  injecao = { PERMITIR_INJECAO_FALHAS = tostring(var.permitir_injecao_falhas) }

  # Refused cards and missing stock are raised as errors, because the state machine tells outcomes apart by error name.
  alarme_com_recusas = { limiar = 50, periodo_s = 300, periodos = 2 }
}

module "criar_pedido" {
  source = "../funcao"

  id_logico          = "CriarPedido"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = {
    URL_FILA_PEDIDOS_CRIADOS = local.url_fila_pedidos_criados
    TABELA_IDEMPOTENCIA      = aws_dynamodb_table.idempotencia_api.name
    QUANTIDADE_MAXIMA        = tostring(var.limites.quantidade_maxima)
    VALOR_MAXIMO_CENTAVOS    = tostring(var.limites.valor_maximo_centavos)
  }

  permissoes = [
    {
      sid      = "PublicarPedido"
      acoes    = ["sqs:SendMessage"]
      recursos = [local.arn_fila_pedidos_criados]
    },
    {
      sid      = "LembrarChavesDeIdempotencia"
      acoes    = ["dynamodb:PutItem", "dynamodb:UpdateItem"]
      recursos = [aws_dynamodb_table.idempotencia_api.arn]
    },
  ]
}

module "consultar_pedido" {
  source = "../funcao"

  id_logico          = "ConsultarPedido"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = { TABELA_PEDIDOS = aws_dynamodb_table.pedidos.name }

  permissoes = [{
    sid      = "LerPedido"
    acoes    = ["dynamodb:GetItem"]
    recursos = [aws_dynamodb_table.pedidos.arn]
  }]
}

module "iniciar_saga" {
  source = "../funcao"

  id_logico          = "IniciarSaga"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = merge(local.injecao, {
    TABELA_PEDIDOS   = aws_dynamodb_table.pedidos.name
    ARN_MAQUINA_SAGA = var.maquina_por_apelido ? aws_sfn_alias.saga[0].arn : local.arn_maquina
  })

  permissoes = [
    {
      sid      = "ConsumirPedidosCriados"
      acoes    = ["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
      recursos = [local.arn_fila_pedidos_criados]
    },
    {
      sid      = "RegistrarRecebido"
      acoes    = ["dynamodb:PutItem"]
      recursos = [aws_dynamodb_table.pedidos.arn]
    },
    {
      # IAM checks a start by an alias against the machine's ARN, and the alias is a condition on it:
      # https://docs.aws.amazon.com/step-functions/latest/dg/auth-version-alias.html
      sid      = "IniciarExecucao"
      acoes    = ["states:StartExecution"]
      recursos = [local.arn_maquina]
      condicoes = !var.maquina_por_apelido ? [] : [{
        teste   = "ForAnyValue:StringEquals"
        chave   = "states:StateMachineQualifier"
        valores = [local.apelido]
      }]
    },
    {
      sid   = "CompararExecucao"
      acoes = ["states:DescribeExecution"]
      # The last part of the ARN is the execution's name, the pedidoId: the executions of this machine only.
      recursos = ["${local.arn_execucao}:*"]
    },
  ]
}

module "confirmar_pedido" {
  source = "../funcao"

  id_logico          = "ConfirmarPedido"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = merge(local.injecao, { TABELA_PEDIDOS = aws_dynamodb_table.pedidos.name })

  permissoes = [{
    sid      = "ConfirmarPedido"
    acoes    = ["dynamodb:UpdateItem"]
    recursos = [aws_dynamodb_table.pedidos.arn]
  }]
}

module "reservar_estoque" {
  source = "../funcao"

  id_logico          = "ReservarEstoque"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = { TABELA_ESTOQUE = aws_dynamodb_table.estoque.name }
  alarme_erros       = local.alarme_com_recusas

  permissoes = [{
    sid      = "Reservar"
    acoes    = ["dynamodb:UpdateItem"]
    recursos = [aws_dynamodb_table.estoque.arn]
  }]
}

module "liberar_estoque" {
  source = "../funcao"

  id_logico          = "LiberarEstoque"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = { TABELA_ESTOQUE = aws_dynamodb_table.estoque.name }

  permissoes = [{
    sid      = "Liberar"
    acoes    = ["dynamodb:UpdateItem"]
    recursos = [aws_dynamodb_table.estoque.arn]
  }]
}

module "cobrar_pagamento" {
  source = "../funcao"

  id_logico          = "CobrarPagamento"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = local.acesso_gateway
  alarme_erros       = local.alarme_com_recusas
  permissoes         = local.permissoes_gateway
}

module "estornar_pagamento" {
  source = "../funcao"

  id_logico          = "EstornarPagamento"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas
  ambiente_variaveis = merge(local.acesso_gateway, local.injecao)
  permissoes         = local.permissoes_gateway
}

resource "aws_lambda_event_source_mapping" "iniciar_saga" {
  event_source_arn        = aws_sqs_queue.pedidos_criados.arn
  function_name           = module.iniciar_saga.arn
  batch_size              = 10
  function_response_types = ["ReportBatchItemFailures"]

  scaling_config {
    maximum_concurrency = 10
  }
}
