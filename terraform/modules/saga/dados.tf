# Tables and queues of the saga. Names and values come from the specification's table "Resources, exactly".

locals {
  # Built from names where a reference would make a cycle or a queue wait for another one.
  arn_fila_pedidos_criados = "arn:${var.contexto.particao}:sqs:${var.contexto.regiao}:${var.contexto.conta}:cesta-pedidos-criados"

  # Two queues of one account and region differ in the last part of their URL only. Read from the DLQ, the input queue's URL
  # is known half a minute before the queue itself is ready, and the functions are made in that time.
  url_fila_pedidos_criados = replace(aws_sqs_queue.pedidos_criados_dlq.url, "//cesta-pedidos-criados-dlq$/", "/cesta-pedidos-criados")
}

resource "aws_dynamodb_table" "estoque" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "cesta-estoque"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "sku"

  attribute {
    name = "sku"
    type = "S"
  }

  point_in_time_recovery {
    enabled = true
  }
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

resource "aws_dynamodb_table" "pedidos" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "cesta-pedidos"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pedidoId"

  # What leaves the stock item of a confirmed order reads it from here.
  stream_enabled   = true
  stream_view_type = "NEW_IMAGE"

  dynamic "attribute" {
    for_each = toset(["pedidoId", "status", "atualizadoEm"])
    content {
      name = attribute.value
      type = "S"
    }
  }

  # Orders that should have ended by now, oldest first. A status write costs two writes here (out of one status, into
  # another); see docs/conferencias.md.
  global_secondary_index {
    name               = "por-status"
    hash_key           = "status"
    range_key          = "atualizadoEm"
    projection_type    = "INCLUDE"
    non_key_attributes = ["criadoEm", "valorCentavos"]
  }

  point_in_time_recovery {
    enabled = true
  }
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# The answers already given at the HTTP edge, by Idempotency-Key. They expire, so there is nothing to recover to a point in time.
resource "aws_dynamodb_table" "idempotencia_api" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  #checkov:skip=CKV_AWS_28:Everything in it expires by TTL in a day: an old answer restored would be wrong.
  name         = "cesta-idempotencia-api"
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
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# The circuit breaker's memory, shared by every instance: an item per gateway operation. Losing it closes the circuits.
resource "aws_dynamodb_table" "disjuntor" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  #checkov:skip=CKV_AWS_28:Three items that the next calls write again: an old state restored would be wrong.
  name         = "cesta-disjuntor"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "operacao"

  attribute {
    name = "operacao"
    type = "S"
  }
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

resource "aws_sqs_queue" "pedidos_criados_dlq" {
  name                      = "cesta-pedidos-criados-dlq"
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = var.contexto.chave_kms == null ? true : null
  kms_master_key_id         = var.contexto.chave_kms

  # Inline, with the source's ARN built from its name: the separate resource would make apply wait for the queue once more.
  redrive_allow_policy = jsonencode({
    redrivePermission = "byQueue"
    sourceQueueArns   = [local.arn_fila_pedidos_criados]
  })

  policy = local.politica_somente_tls["cesta-pedidos-criados-dlq"]
}

resource "aws_sqs_queue" "pedidos_criados" {
  name                       = "cesta-pedidos-criados"
  visibility_timeout_seconds = 30
  message_retention_seconds  = 86400
  sqs_managed_sse_enabled    = var.contexto.chave_kms == null ? true : null
  kms_master_key_id          = var.contexto.chave_kms

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.pedidos_criados_dlq.arn
    maxReceiveCount     = 5
  })

  policy = local.politica_somente_tls["cesta-pedidos-criados"]

  lifecycle {
    postcondition {
      condition     = self.url == local.url_fila_pedidos_criados && self.arn == local.arn_fila_pedidos_criados
      error_message = "The URL or ARN given to the functions is not the one of this queue."
    }
  }
}

# No redrive: a message leaves this queue only by a person's hand.
resource "aws_sqs_queue" "compensacao_falhou" {
  name                      = "cesta-compensacao-falhou"
  message_retention_seconds = 1209600
  sqs_managed_sse_enabled   = var.contexto.chave_kms == null ? true : null
  kms_master_key_id         = var.contexto.chave_kms

  policy = local.politica_somente_tls["cesta-compensacao-falhou"]
}

locals {
  politica_somente_tls = {
    for fila in ["cesta-pedidos-criados", "cesta-pedidos-criados-dlq", "cesta-compensacao-falhou"] :
    fila => !var.contexto.exigir_tls ? null : jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Sid    = "SomenteTls"
        Effect = "Deny"
        # A denial names everyone and every action, so that nothing slips past it.
        Principal = "*"
        Action    = "sqs:*"
        Resource  = "arn:${var.contexto.particao}:sqs:${var.contexto.regiao}:${var.contexto.conta}:${fila}"
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }]
    })
  }
}
