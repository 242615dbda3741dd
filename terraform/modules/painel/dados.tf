# Tables, stream, queue and topics of the panel. Names and values come from the specification's table "Resources, exactly".

locals {
  arn_dlq = "arn:${var.contexto.particao}:sqs:${var.contexto.regiao}:${var.contexto.conta}:ffv-lab-consumidor-pedidos-dlq"

  # The stream read is the one of the table made here, or of the one that already exists.
  origem = var.tabela_origem_existente == null ? {
    nome          = aws_dynamodb_table.pedidos[0].name
    arn           = aws_dynamodb_table.pedidos[0].arn
    arn_stream    = aws_dynamodb_table.pedidos[0].stream_arn
    tipo_imagem   = aws_dynamodb_table.pedidos[0].stream_view_type
    stream_ligado = aws_dynamodb_table.pedidos[0].stream_enabled
    } : {
    nome          = data.aws_dynamodb_table.pedidos[0].name
    arn           = data.aws_dynamodb_table.pedidos[0].arn
    arn_stream    = data.aws_dynamodb_table.pedidos[0].stream_arn
    tipo_imagem   = data.aws_dynamodb_table.pedidos[0].stream_view_type
    stream_ligado = data.aws_dynamodb_table.pedidos[0].stream_enabled
  }
}

data "aws_dynamodb_table" "pedidos" {
  count = var.tabela_origem_existente == null ? 0 : 1
  name  = var.tabela_origem_existente
}

resource "aws_dynamodb_table" "pedidos" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  count = var.tabela_origem_existente == null ? 1 : 0

  name             = "pedidos_cadencia"
  billing_mode     = "PAY_PER_REQUEST"
  hash_key         = "PK"
  range_key        = "SK"
  stream_enabled   = true
  stream_view_type = "NEW_AND_OLD_IMAGES"

  dynamic "attribute" {
    for_each = toset(["PK", "SK", "GSI2PK", "updated_at", "GSI3PK", "GSI3SK"])
    content {
      name = attribute.value
      type = "S"
    }
  }

  # What the polling design reads: everything that changed since a moment.
  global_secondary_index {
    name            = "GSI2"
    hash_key        = "GSI2PK"
    range_key       = "updated_at"
    projection_type = "ALL"
  }

  # The pending queue of a store; both keys leave the item when the order is SEPARADO.
  global_secondary_index {
    name            = "GSI3"
    hash_key        = "GSI3PK"
    range_key       = "GSI3SK"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled = true
  }
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

resource "aws_dynamodb_table" "painel" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  name         = "painel_operacao"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "PK"
  range_key    = "SK"

  dynamic "attribute" {
    for_each = toset(["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"])
    content {
      name = attribute.value
      type = "S"
    }
  }

  # Current states of a store, by when the panel wrote them. Only ATUAL items carry the keys.
  global_secondary_index {
    name            = "GSI1"
    hash_key        = "GSI1PK"
    range_key       = "GSI1SK"
    projection_type = "ALL"
  }

  # What a store still has to put back. The keys leave the item when somebody acknowledges it, so the index stays small.
  global_secondary_index {
    name            = "GSI2"
    hash_key        = "GSI2PK"
    range_key       = "GSI2SK"
    projection_type = "ALL"
  }

  point_in_time_recovery {
    enabled = true
  }

  tags = {
    Projeto = "ffv-lab"
    Papel   = "read-model-operacional"
  }
  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

resource "aws_sqs_queue" "dlq" {
  name                       = "ffv-lab-consumidor-pedidos-dlq"
  message_retention_seconds  = 1209600
  visibility_timeout_seconds = 720 # six times the timeout of ffv-lab-reprocessar-dlq
  sqs_managed_sse_enabled    = var.contexto.chave_kms == null ? true : null
  kms_master_key_id          = var.contexto.chave_kms

  policy = length(local.politica_dlq) == 0 ? null : jsonencode({ Version = "2012-10-17", Statement = local.politica_dlq })
}

locals {
  politica_dlq = concat(
    !var.contexto.exigir_tls ? [] : [{
      Sid    = "SomenteTls"
      Effect = "Deny"
      # A denial names everyone and every action, so that nothing slips past it.
      Principal = "*"
      Action    = "sqs:*"
      Resource  = local.arn_dlq
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }],
    var.destino_falhas != "s3" ? [] : [{
      Sid       = "AvisoDeObjetoNovo"
      Effect    = "Allow"
      Principal = { Service = "s3.amazonaws.com" }
      Action    = "sqs:SendMessage"
      Resource  = local.arn_dlq
      Condition = {
        StringEquals = { "aws:SourceAccount" = var.contexto.conta }
        ArnEquals    = { "aws:SourceArn" = aws_s3_bucket.falhas[0].arn }
      }
    }],
  )
}

# --- on-failure destination with the records themselves --------------------------------------------------------------

resource "aws_s3_bucket" "falhas" {
  #checkov:skip=CKV_AWS_18:Only the mapping writes and the recovery function reads: CloudTrail has both.
  #checkov:skip=CKV_AWS_144:The records live 14 days, as the queue they stand in for, which has no replica either.
  #checkov:skip=CKV_AWS_145:By variable (chave_kms); without it SSE-S3: the records are order statuses, without card or personal data.
  #checkov:skip=CKV_AWS_21:Objects are written once under a name of their own and expire; a version would outlive the expiry.
  count = var.destino_falhas == "s3" ? 1 : 0

  bucket        = "ffv-lab-falhas-consumidor-${var.contexto.conta}-${var.contexto.regiao}"
  force_destroy = var.contexto.ambiente != "producao"
}

resource "aws_s3_bucket_public_access_block" "falhas" {
  count = var.destino_falhas == "s3" ? 1 : 0

  bucket                  = aws_s3_bucket.falhas[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "falhas" {
  count = var.destino_falhas == "s3" ? 1 : 0

  bucket = aws_s3_bucket.falhas[0].id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm     = var.contexto.chave_kms == null ? "AES256" : "aws:kms"
      kms_master_key_id = var.contexto.chave_kms
    }
    bucket_key_enabled = var.contexto.chave_kms == null ? null : true
  }
}

resource "aws_s3_bucket_policy" "falhas" {
  count = var.destino_falhas == "s3" && var.contexto.exigir_tls ? 1 : 0

  bucket = aws_s3_bucket.falhas[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid    = "SomenteTls"
      Effect = "Deny"
      # A denial names everyone and every action, so that nothing slips past it.
      Principal = "*"
      Action    = "s3:*"
      # The bucket and, by the suffix, each object in it.
      Resource  = [aws_s3_bucket.falhas[0].arn, "${aws_s3_bucket.falhas[0].arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })

  # Both change the bucket's policy state; S3 answers a conflict when they meet.
  depends_on = [aws_s3_bucket_public_access_block.falhas]
}

# The objects hold whole images of orders: they live as long as the queue's messages and no longer.
resource "aws_s3_bucket_lifecycle_configuration" "falhas" {
  count = var.destino_falhas == "s3" ? 1 : 0

  bucket = aws_s3_bucket.falhas[0].id

  rule {
    id     = "quatorze-dias"
    status = "Enabled"
    filter {}
    expiration {
      days = 14
    }
  }
}

resource "aws_s3_bucket_notification" "falhas" {
  count = var.destino_falhas == "s3" ? 1 : 0

  bucket = aws_s3_bucket.falhas[0].id

  queue {
    queue_arn = aws_sqs_queue.dlq.arn
    events    = ["s3:ObjectCreated:*"]
  }
}

# --- topics ----------------------------------------------------------------------------------------------------------

locals {
  somente_tls = {
    Sid    = "SomenteTls"
    Effect = "Deny"
    # A denial names everyone, so that nobody slips past it.
    Principal = "*"
    Action    = "sns:Publish"
    Condition = { Bool = { "aws:SecureTransport" = "false" } }
  }
}

# People of the stores: what has to be put back, and nothing else. Only this module's functions publish here, and the key
# AWS manages lets whoever in the account may use a topic encrypt through SNS, so no kms action is granted for it:
# https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
resource "aws_sns_topic" "reposicao" {
  name              = "ffv-lab-alerta-reposicao-estoque"
  display_name      = "Reposição de estoque"
  kms_master_key_id = coalesce(var.contexto.chave_kms, "alias/aws/sns")
}

resource "aws_sns_topic_policy" "reposicao" {
  count = var.contexto.exigir_tls ? 1 : 0

  arn = aws_sns_topic.reposicao.arn

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [merge(local.somente_tls, { Resource = aws_sns_topic.reposicao.arn })]
  })
}

# The team that runs the panel: alarms and reconciliations. Apart, so that a late consumer does not page the stores.
resource "aws_sns_topic" "operacao" {
  name              = "ffv-lab-painel-operacao"
  display_name      = "Cadência: operação do painel"
  kms_master_key_id = var.chave_kms_alertas
}

resource "aws_sns_topic_policy" "operacao" {
  arn = aws_sns_topic.operacao.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([{
      Sid       = "AlarmesDestaConta"
      Effect    = "Allow"
      Principal = { Service = "cloudwatch.amazonaws.com" }
      Action    = "sns:Publish"
      Resource  = aws_sns_topic.operacao.arn
      Condition = {
        StringEquals = { "aws:SourceAccount" = var.contexto.conta }
        # Any alarm of this account and region.
        ArnLike = { "aws:SourceArn" = "arn:${var.contexto.particao}:cloudwatch:${var.contexto.regiao}:${var.contexto.conta}:alarm:*" }
      }
    }], var.contexto.exigir_tls ? [merge(local.somente_tls, { Resource = aws_sns_topic.operacao.arn })] : [])
  })
}
