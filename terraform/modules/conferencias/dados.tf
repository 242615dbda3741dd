# What the write-off and the checks remember, and where the stream's discarded records go.

locals {
  nome_dlq = "cesta-baixar-reserva-dlq"
  # Built from the name, so that the function does not wait for the queue.
  arn_dlq = "arn:${var.contexto.particao}:sqs:${var.contexto.regiao}:${var.contexto.conta}:${local.nome_dlq}"
}

# A mark per confirmed order, for as long as the name of its execution.
resource "aws_dynamodb_table" "baixas" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "cesta-estoque-baixas"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pedidoId"

  attribute {
    name = "pedidoId"
    type = "S"
  }

  ttl {
    attribute_name = "expiraEm"
    enabled        = true
  }

  # Restored to another moment than cesta-estoque, a mark without its removal would give sold units back.
  point_in_time_recovery {
    enabled = true
  }

  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# Cursors, first sightings and notices given. All of it can be lost: the checks start again.
resource "aws_dynamodb_table" "conferencias" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  #checkov:skip=CKV_AWS_28:All of it can be lost: the checks start again.
  name         = "cesta-conferencias"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "nome"

  attribute {
    name = "nome"
    type = "S"
  }

  ttl {
    attribute_name = "expiraEm"
    enabled        = true
  }

  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# Position of the records only: conferir_reservas writes off what they said, so nobody has to send them again.
resource "aws_sqs_queue" "dlq" {
  name                      = local.nome_dlq
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = var.contexto.chave_kms == null ? true : null
  kms_master_key_id         = var.contexto.chave_kms

  policy = !var.contexto.exigir_tls ? null : jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid    = "SomenteTls"
      Effect = "Deny"
      # A denial names everyone and every action, so that nothing slips past it.
      Principal = "*"
      Action    = "sqs:*"
      Resource  = local.arn_dlq
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}
