# The design the panel replaces, by variable: every 2 minutes, what changed since the last time. Kept to show what it loses.

resource "aws_dynamodb_table" "cache_polling" {
  count = var.habilitar_desenho_minimo ? 1 : 0

  name         = "cadencia_polling_cache"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "PK"

  attribute {
    name = "PK"
    type = "S"
  }

  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

module "polling" {
  source = "../funcao"
  count  = var.habilitar_desenho_minimo ? 1 : 0

  id_logico          = "PainelPolling"
  contexto           = var.contexto
  servico            = "painel"
  arn_topico_alertas = aws_sns_topic.operacao.arn

  ambiente_variaveis = {
    TABELA_ORIGEM = local.origem.nome
    TABELA_CACHE  = aws_dynamodb_table.cache_polling[0].name
  }

  permissoes = [
    { sid = "LerMudancas", acoes = ["dynamodb:Query"], recursos = ["${local.origem.arn}/index/GSI2"] },
    { sid = "GuardarCache", acoes = ["dynamodb:GetItem", "dynamodb:PutItem"], recursos = [aws_dynamodb_table.cache_polling[0].arn] },
  ]
}

resource "aws_cloudwatch_event_rule" "polling" {
  count = var.habilitar_desenho_minimo ? 1 : 0

  name                = "ffv-lab-polling-pedidos"
  description         = "The polling design's tick."
  schedule_expression = "rate(2 minutes)"
}

resource "aws_cloudwatch_event_target" "polling" {
  count = var.habilitar_desenho_minimo ? 1 : 0

  rule = aws_cloudwatch_event_rule.polling[0].name
  arn  = module.polling[0].arn
}

resource "aws_lambda_permission" "polling" {
  count = var.habilitar_desenho_minimo ? 1 : 0

  statement_id  = "agenda-polling"
  action        = "lambda:InvokeFunction"
  function_name = module.polling[0].nome
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.polling[0].arn
}
