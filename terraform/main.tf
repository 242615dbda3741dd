# What every system shares: the provider, the one artifact, and the context each function is made with.
# Each system has a file of its own: saga.tf (and painel.tf, fila.tf).

provider "aws" {
  region            = var.regiao
  s3_use_path_style = var.s3_estilo_caminho

  default_tags {
    tags = { Projeto = "cesta" }
  }
}

data "aws_caller_identity" "atual" {}

data "aws_partition" "atual" {}

locals {
  # null when there is neither: coalesce fails without a value.
  chave_kms_alertas = try(coalesce(var.chave_kms_alertas, var.chave_kms), null)

  # A parameter's write-only value is sent again only with another version, and an empty one in its place when only the key
  # changes: the key is part of the version.
  versao_por_chave = var.chave_kms == null ? 0 : parseint(substr(sha256(var.chave_kms), 0, 7), 16)

  hash_artefato = filebase64sha256(var.arquivo_artefato)

  contexto = {
    arquivo_modelo = coalesce(var.arquivo_modelo, "${path.root}/../template.yaml")
    artefato = {
      bucket = aws_s3_object.artefato.bucket
      chave  = aws_s3_object.artefato.key
      hash   = local.hash_artefato
    }
    runtime              = var.runtime
    arquitetura          = var.arquitetura
    ambiente             = var.ambiente
    particao             = data.aws_partition.atual.partition
    regiao               = var.regiao
    conta                = data.aws_caller_identity.atual.account_id
    nivel_log            = var.nivel_log
    retencao_logs_dias   = var.retencao_logs_dias
    rastreamento         = var.rastreamento
    chave_kms            = var.chave_kms
    chave_kms_alertas    = local.chave_kms_alertas
    chaves_anteriores    = var.chaves_kms_anteriores
    versao_por_chave     = local.versao_por_chave
    limites_concorrencia = var.limites_concorrencia
    exigir_tls           = var.exigir_tls
    habilitar_api_http   = var.habilitar_api_http
    prefixo_url_funcao   = var.prefixo_url_funcao
  }
}

# One zip for every function: functions made from an S3 object are created in parallel, from a local file one at a time.

resource "aws_s3_bucket" "artefatos" {
  #checkov:skip=CKV_AWS_18:Holds builds only, which deploy writes and Lambda reads: CloudTrail has both.
  #checkov:skip=CKV_AWS_144:The repository makes any artifact again, byte for byte.
  #checkov:skip=CKV_AWS_145:By variable (chave_kms); without it SSE-S3: code without secrets or personal data.
  #checkov:skip=CKV2_AWS_61:A version in use must never expire, and an artifact weighs a few megabytes.
  #checkov:skip=CKV2_AWS_62:Nothing waits for an artifact.
  bucket = "cesta-artefatos-${data.aws_caller_identity.atual.account_id}-${var.regiao}"

  # Nothing here but builds, which the repository makes again.
  force_destroy = true
}

resource "aws_s3_bucket_public_access_block" "artefatos" {
  bucket = aws_s3_bucket.artefatos.id

  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_versioning" "artefatos" {
  bucket = aws_s3_bucket.artefatos.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "artefatos" {
  bucket = aws_s3_bucket.artefatos.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm     = var.chave_kms == null ? "AES256" : "aws:kms"
      kms_master_key_id = var.chave_kms
    }
    bucket_key_enabled = var.chave_kms == null ? null : true
  }
}

resource "aws_s3_bucket_policy" "artefatos" {
  count = var.exigir_tls ? 1 : 0

  bucket = aws_s3_bucket.artefatos.id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid    = "SomenteTls"
      Effect = "Deny"
      # A denial names everyone and every action, so that nothing slips past it.
      Principal = "*"
      Action    = "s3:*"
      # The bucket and, by the suffix, each object in it.
      Resource  = [aws_s3_bucket.artefatos.arn, "${aws_s3_bucket.artefatos.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })

  # Both change the bucket's policy state; S3 answers a conflict when they meet.
  depends_on = [aws_s3_bucket_public_access_block.artefatos]
}

resource "aws_s3_object" "artefato" {
  bucket      = aws_s3_bucket.artefatos.id
  key         = "funcoes/${filesha256(var.arquivo_artefato)}.zip"
  source      = var.arquivo_artefato
  source_hash = local.hash_artefato

  # An upload before versioning is on would be a version nobody can name.
  depends_on = [aws_s3_bucket_versioning.artefatos, aws_s3_bucket_server_side_encryption_configuration.artefatos]
}
