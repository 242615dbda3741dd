# The saga's state machine. Its role may invoke exactly the functions it orchestrates, update orders and write to the human queue.

locals {
  nome_maquina = "cesta-saga-pedido"
  arn_maquina  = "arn:${var.contexto.particao}:states:${var.contexto.regiao}:${var.contexto.conta}:stateMachine:${local.nome_maquina}"
  # An execution is named under its machine, whatever version or alias started it.
  arn_execucao = "arn:${var.contexto.particao}:states:${var.contexto.regiao}:${var.contexto.conta}:execution:${local.nome_maquina}"

  # Both machines write their execution log.
  entregar_logs = {
    Sid    = "EntregarLogs"
    Effect = "Allow"
    Action = [
      "logs:CreateLogDelivery",
      "logs:DeleteLogDelivery",
      "logs:DescribeLogGroups",
      "logs:DescribeResourcePolicies",
      "logs:GetLogDelivery",
      "logs:ListLogDeliveries",
      "logs:PutResourcePolicy",
      "logs:UpdateLogDelivery",
    ]
    # CloudWatch Logs defines no resource type for the log-delivery API actions, so "*" is the only value they accept:
    # https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html#cloudwatch-iam-policy
    Resource = ["*"]
  }

  # Said by both machines, but to a target that keeps no machine's settings (see rastreamento).
  cifra = var.contexto.chave_kms != null ? "CUSTOMER_MANAGED_KMS_KEY" : var.contexto.rastreamento != null ? "AWS_OWNED_KEY" : null

  # Both machines trace their executions, where tracing is on.
  permissao_rastro = !coalesce(var.contexto.rastreamento, false) ? [] : [{
    Sid    = "EnviarRastro"
    Effect = "Allow"
    Action = [
      "xray:GetSamplingRules",
      "xray:GetSamplingTargets",
      "xray:PutTelemetryRecords",
      "xray:PutTraceSegments",
    ]
    # X-Ray defines no resource type for these actions, so "*" is the only value they accept:
    # https://docs.aws.amazon.com/step-functions/latest/dg/xray-iam.html
    Resource = ["*"]
  }]

  # With a key of one's own: definition, executions and their log under it, and what the machine touches by itself.
  # https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
  # An execution keeps the key it started under, as a published version does, and goes on writing with it:
  # https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeStateMachineForExecution.html
  chaves_execucao = concat(var.contexto.chave_kms[*], var.contexto.chaves_anteriores)
  usar_chave = {
    for papel, uso in {
      maquina     = { arn = local.arn_maquina, servicos = ["dynamodb", "sqs"] }
      compensacao = { arn = local.arn_compensacao, servicos = ["dynamodb"] }
    } :
    papel => [for declaracao in [
      {
        Sid       = "CifrarExecucoes"
        Effect    = "Allow"
        Action    = ["kms:Decrypt", "kms:GenerateDataKey"]
        Resource  = local.chaves_execucao
        Condition = { StringEquals = { "kms:EncryptionContext:aws:states:stateMachineArn" = [uso.arn] } }
      },
      {
        Sid      = "CifrarRegistro"
        Effect   = "Allow"
        Action   = ["kms:GenerateDataKey"]
        Resource = local.chaves_execucao
        # The suffix is what the log delivery names itself by, in this account and region.
        Condition = { StringLike = { "kms:EncryptionContext:SourceArn" = ["arn:${var.contexto.particao}:logs:${var.contexto.regiao}:${var.contexto.conta}:*"] } }
      },
      {
        Sid       = "UsarDadosCifrados"
        Effect    = "Allow"
        Action    = contains(uso.servicos, "sqs") ? ["kms:Decrypt", "kms:GenerateDataKey"] : ["kms:Decrypt"]
        Resource  = var.contexto.chave_kms[*]
        Condition = { StringEquals = { "kms:ViaService" = [for s in uso.servicos : "${s}.${var.contexto.regiao}.amazonaws.com"] } }
      },
      {
        Sid       = "LerDadosDeAntes"
        Effect    = "Allow"
        Action    = ["kms:Decrypt"]
        Resource  = var.contexto.chaves_anteriores
        Condition = { StringEquals = { "kms:ViaService" = [for s in uso.servicos : "${s}.${var.contexto.regiao}.amazonaws.com"] } }
      },
    ] : declaracao if length(declaracao.Resource) > 0]
  }

  definicao = templatefile(var.arquivo_asl, {
    particao                    = var.contexto.particao
    regiao                      = var.contexto.regiao
    conta                       = var.contexto.conta
    funcao_reservar_estoque     = module.reservar_estoque.nome
    funcao_cobrar_pagamento     = module.cobrar_pagamento.nome
    funcao_confirmar_pedido     = module.confirmar_pedido.nome
    funcao_estornar_pagamento   = module.estornar_pagamento.nome
    funcao_liberar_estoque      = module.liberar_estoque.nome
    tabela_pedidos              = aws_dynamodb_table.pedidos.name
    url_fila_compensacao_falhou = aws_sqs_queue.compensacao_falhou.url
  })
}

resource "aws_iam_role" "maquina" {
  name                 = "${local.nome_maquina}-role"
  description          = "Role of the state machine ${local.nome_maquina}."
  max_session_duration = 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "states.amazonaws.com" }
      Condition = {
        StringEquals = { "aws:SourceAccount" = var.contexto.conta }
        # Where no documentation says which ARN an execution started by an alias comes with, both are trusted: the machine's own,
        # and with a qualifier after ":", which is a version or an alias of it. The suffix reaches no other machine. AWS's own
        # example trusts every machine of the account:
        # https://docs.aws.amazon.com/step-functions/latest/dg/procedure-create-iam-role.html#prevent-cross-service-confused-deputy
        ArnLike = { "aws:SourceArn" = [local.arn_maquina, "${local.arn_maquina}:*"] }
      }
    }]
  })
}

resource "aws_iam_role_policy" "maquina" {
  name = "${local.nome_maquina}-policy"
  role = aws_iam_role.maquina.name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(local.usar_chave["maquina"], [
      {
        Sid    = "InvocarAsFuncoesQueOrquestra"
        Effect = "Allow"
        Action = ["lambda:InvokeFunction"]
        Resource = [
          module.reservar_estoque.arn,
          module.cobrar_pagamento.arn,
          module.confirmar_pedido.arn,
          module.estornar_pagamento.arn,
          module.liberar_estoque.arn,
        ]
      },
      {
        # Update only: PutItem would let a state replace a whole order, history included.
        Sid      = "RegistrarNoPedido"
        Effect   = "Allow"
        Action   = ["dynamodb:UpdateItem"]
        Resource = [aws_dynamodb_table.pedidos.arn]
      },
      {
        Sid      = "AvisarPessoas"
        Effect   = "Allow"
        Action   = ["sqs:SendMessage"]
        Resource = [aws_sqs_queue.compensacao_falhou.arn]
      },
      local.entregar_logs,
    ], local.permissao_rastro)
  })
}

resource "aws_cloudwatch_log_group" "maquina" {
  #checkov:skip=CKV_AWS_158:By variable (chave_kms); without it CloudWatch Logs encrypts with its own key.
  #checkov:skip=CKV_AWS_338:The specification says 30 days; execution data is kept no longer than it is read.
  name              = "/aws/vendedlogs/states/${local.nome_maquina}"
  retention_in_days = 30
  kms_key_id        = var.contexto.chave_kms
}

resource "aws_sfn_state_machine" "saga" {
  #checkov:skip=CKV_AWS_284:By variable (rastreamento): it needs xray actions on "*", and the log at level ALL tells the same story per execution.
  name       = local.nome_maquina
  type       = "STANDARD"
  role_arn   = aws_iam_role.maquina.arn
  definition = local.definicao
  publish    = var.maquina_por_apelido # a version for each definition that is deployed

  # Execution data is logged because the log is where an operator reads what a step received. It carries cartaoToken, which
  # is the gateway's single-merchant token and never a card number (the API refuses those).
  logging_configuration {
    log_destination        = "${aws_cloudwatch_log_group.maquina.arn}:*"
    level                  = "ALL"
    include_execution_data = true
  }

  # Said even when off: a machine that was traced stays so otherwise.
  dynamic "tracing_configuration" {
    for_each = var.contexto.rastreamento == null ? [] : [var.contexto.rastreamento]
    content {
      enabled = tracing_configuration.value
    }
  }

  # Said even without a key: a machine that had one keeps it otherwise, and its role no longer may use it.
  dynamic "encryption_configuration" {
    for_each = local.cifra[*]
    content {
      type                              = encryption_configuration.value
      kms_key_id                        = var.contexto.chave_kms
      kms_data_key_reuse_period_seconds = var.contexto.chave_kms == null ? null : 300
    }
  }

  # Creating the machine tests the log delivery with the role, so its policy has to be there first.
  depends_on = [aws_iam_role_policy.maquina]
}

# New executions are started by the alias, which says how many of a hundred run which published version. One that runs keeps
# the version it was started with.
resource "aws_sfn_alias" "saga" {
  count = var.maquina_por_apelido ? 1 : 0

  name        = local.apelido
  description = "What iniciar_saga starts; see docs/deploy.md."

  dynamic "routing_configuration" {
    for_each = { for versao, peso in local.rota : versao => peso if peso > 0 }
    content {
      state_machine_version_arn = routing_configuration.key == "publicada" ? aws_sfn_state_machine.saga.state_machine_version_arn : "${local.arn_maquina}:${routing_configuration.key}"
      weight                    = routing_configuration.value
    }
  }

  lifecycle {
    precondition {
      condition     = !contains(keys(local.rota), element(split(":", aws_sfn_state_machine.saga.state_machine_version_arn), -1))
      error_message = "liberacao_saga.versao_anterior is the version just deployed: there is nothing to share out. Give the one before it, or leave liberacao_saga out."
    }
  }
}

locals {
  apelido = "vigente"
  rota = var.liberacao == null ? { publicada = 100 } : {
    publicada                                 = var.liberacao.percentual
    (tostring(var.liberacao.versao_anterior)) = 100 - var.liberacao.percentual
  }
}
