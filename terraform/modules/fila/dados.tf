# Queue, DLQ and tables. Names and values come from the specification's table.

locals {
  nome_fila    = "${var.projeto}-pedidos"
  prefixo_sqs  = "arn:${var.contexto.particao}:sqs:${var.contexto.regiao}:${var.contexto.conta}"
  arn_fila     = "${local.prefixo_sqs}:${local.nome_fila}" # from the name: the DLQ must exist before the queue
  tags         = { Projeto = var.projeto }
  visibilidade = 60
}

resource "aws_sqs_queue" "dlq" {
  name                      = "${local.nome_fila}-dlq"
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = var.contexto.chave_kms == null ? true : null
  kms_master_key_id         = var.contexto.chave_kms

  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [local.arn_fila]
  })

  policy = local.politica_somente_tls["${local.nome_fila}-dlq"]
  tags   = local.tags
}

resource "aws_sqs_queue" "pedidos" {
  name                       = local.nome_fila
  visibility_timeout_seconds = local.visibilidade
  message_retention_seconds  = 345600
  sqs_managed_sse_enabled    = var.contexto.chave_kms == null ? true : null
  kms_master_key_id          = var.contexto.chave_kms

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dlq.arn
    maxReceiveCount     = 5
  })

  policy = local.politica_somente_tls[local.nome_fila]
  tags   = local.tags

  lifecycle {
    # Also what keeps the idempotency record's IN_PROGRESS (at most the function's timeout) shorter than the invisibility.
    precondition {
      condition     = local.visibilidade >= 6 * module.consumidor.timeout_s
      error_message = "The visibility timeout is at least 6 times the consumer's timeout (template.yaml)."
    }
  }
}

locals {
  politica_somente_tls = {
    for fila in [local.nome_fila, "${local.nome_fila}-dlq"] :
    fila => !var.contexto.exigir_tls ? null : jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Sid    = "SomenteTls"
        Effect = "Deny"
        # A denial names everyone and every action, so that nothing slips past it.
        Principal = "*"
        Action    = "sqs:*"
        Resource  = "${local.prefixo_sqs}:${fila}"
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }]
    })
  }
}

# Powertools' idempotency record: what keeps two deliveries of an order apart and answers the repeated one.
resource "aws_dynamodb_table" "processados" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "${local.nome_fila}-processados"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "PedidoId"

  attribute {
    name = "PedidoId"
    type = "S"
  }

  ttl {
    attribute_name = "ExpiraEm"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  tags = local.tags
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# The outcome of each order, kept: the debit's marker must outlive any redrive of the DLQ.
resource "aws_dynamodb_table" "efeitos" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "${var.projeto}-efeitos"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pedidoId"

  attribute {
    name = "pedidoId"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }

  tags = local.tags
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

resource "aws_dynamodb_table" "estoque" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "${var.projeto}-estoque"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "itemId"

  attribute {
    name = "itemId"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }

  tags = local.tags
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# The answers already given at the HTTP edge, by Idempotency-Key. They expire: nothing to recover to a point in time.
resource "aws_dynamodb_table" "idempotencia_api" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  #checkov:skip=CKV_AWS_28:Everything in it expires by TTL in a day: an old answer restored would be wrong.
  name         = "${var.projeto}-idempotencia-api"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "chave"

  attribute {
    name = "chave"
    type = "S"
  }

  ttl {
    attribute_name = "expiraEm"
    enabled        = true
  }

  tags = local.tags
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# What people took out of the DLQ, with who and why. No function of the system touches it: operators do, by scripts/dlq.sh.
resource "aws_dynamodb_table" "descartes" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "${var.projeto}-descartes"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "messageId"

  attribute {
    name = "messageId"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }

  tags = local.tags
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}
