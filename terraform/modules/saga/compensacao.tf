# The second state machine: what a person asks to be undone after the saga gave up. It undoes and writes the order's status;
# it can neither reserve, charge, confirm nor send messages.

locals {
  nome_compensacao = "cesta-compensacao-manual"
  arn_compensacao  = "arn:${var.contexto.particao}:states:${var.contexto.regiao}:${var.contexto.conta}:stateMachine:${local.nome_compensacao}"
}

resource "aws_iam_role" "compensacao" {
  name                 = "${local.nome_compensacao}-role"
  description          = "Role of the state machine ${local.nome_compensacao}."
  max_session_duration = 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "states.amazonaws.com" }
      Condition = {
        StringEquals = { "aws:SourceAccount" = var.contexto.conta }
        # Exactly: it has neither versions nor aliases, so no execution of it comes with another ARN.
        ArnEquals = { "aws:SourceArn" = local.arn_compensacao }
      }
    }]
  })
}

resource "aws_iam_role_policy" "compensacao" {
  name = "${local.nome_compensacao}-policy"
  role = aws_iam_role.compensacao.name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(local.usar_chave["compensacao"], [
      {
        Sid      = "InvocarAsFuncoesQueOrquestra"
        Effect   = "Allow"
        Action   = ["lambda:InvokeFunction"]
        Resource = [module.estornar_pagamento.arn, module.liberar_estoque.arn]
      },
      {
        Sid      = "RegistrarNoPedido"
        Effect   = "Allow"
        Action   = ["dynamodb:UpdateItem"]
        Resource = [aws_dynamodb_table.pedidos.arn]
      },
      local.entregar_logs,
    ], local.permissao_rastro)
  })
}

resource "aws_cloudwatch_log_group" "compensacao" {
  #checkov:skip=CKV_AWS_158:By variable (chave_kms); without it CloudWatch Logs encrypts with its own key.
  #checkov:skip=CKV_AWS_338:30 days, as the log of the saga: execution data is kept no longer than it is read.
  name              = "/aws/vendedlogs/states/${local.nome_compensacao}"
  retention_in_days = 30
  kms_key_id        = var.contexto.chave_kms
}

resource "aws_sfn_state_machine" "compensacao" {
  #checkov:skip=CKV_AWS_284:By variable (rastreamento): it needs xray actions on "*", and the log at level ALL tells the same story per execution.
  name     = local.nome_compensacao
  type     = "STANDARD"
  role_arn = aws_iam_role.compensacao.arn

  definition = templatefile(var.arquivo_asl_compensacao, {
    particao                  = var.contexto.particao
    regiao                    = var.contexto.regiao
    conta                     = var.contexto.conta
    funcao_estornar_pagamento = module.estornar_pagamento.nome
    funcao_liberar_estoque    = module.liberar_estoque.nome
    tabela_pedidos            = aws_dynamodb_table.pedidos.name
  })

  # Its input has no card token at all: pedidoId, sku, criadoEm and what is left to undo.
  logging_configuration {
    log_destination        = "${aws_cloudwatch_log_group.compensacao.arn}:*"
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
  depends_on = [aws_iam_role_policy.compensacao]
}
