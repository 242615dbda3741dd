# One function: its role, its policy, its log group, its error alarm. Handler, timeout, memory and name are written once,
# in template.yaml; nothing here repeats them.

locals {
  modelo       = yamldecode(file(var.contexto.arquivo_modelo))
  propriedades = local.modelo.Resources[var.id_logico].Properties
  globais      = local.modelo.Globals.Function

  nome    = local.propriedades.FunctionName
  timeout = try(local.propriedades.Timeout, local.globais.Timeout)
  memoria = try(local.propriedades.MemorySize, local.globais.MemorySize)

  espaco_metricas = { cesta = "Cesta", painel = "Cadencia", fila = "Cadencia" }

  rastrear = coalesce(var.contexto.rastreamento, false)

  variaveis_comuns = {
    AMBIENTE                     = var.contexto.ambiente
    LOG_LEVEL                    = var.contexto.nivel_log
    POWERTOOLS_SERVICE_NAME      = var.servico
    POWERTOOLS_METRICS_NAMESPACE = local.espaco_metricas[var.servico]
    RASTREAMENTO_ATIVO           = tostring(local.rastrear)
  }

  permissao_log = {
    Sid    = "EscreverOProprioLog"
    Effect = "Allow"
    Action = ["logs:CreateLogStream", "logs:PutLogEvents"]
    # The suffix is the log stream, whose name Lambda chooses for each execution environment.
    Resource = ["arn:${var.contexto.particao}:logs:${var.contexto.regiao}:${var.contexto.conta}:log-group:/aws/lambda/${local.nome}:*"]
  }

  permissao_rastro = {
    Sid    = "EnviarRastro"
    Effect = "Allow"
    Action = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
    # X-Ray defines no resource type for these two actions, so "*" is the only value they accept:
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html
    Resource = ["*"]
  }

  # A key of one's own is allowed to who reads what it encrypts, and a data key to who sends: each through its service alone.
  # DynamoDB asks its caller for no data key.
  acoes  = toset(flatten(var.permissoes[*].acoes))
  leem   = setintersection(["dynamodb", "s3", "sns", "sqs", "ssm", "states"], [for a in local.acoes : split(":", a)[0]])
  enviam = [for a in setintersection(["s3:PutObject", "sns:Publish", "sqs:SendMessage"], local.acoes) : split(":", a)[0]]
  alerta = var.contexto.chave_kms_alertas == var.contexto.chave_kms ? null : var.contexto.chave_kms_alertas

  # What was encrypted under an earlier key is still read with it; nothing is encrypted with it again.
  decifram = concat(var.contexto.chave_kms[*], var.contexto.chaves_anteriores)

  permissoes_chave = [
    for uso in [
      { sid = "Decifrar", acoes = ["kms:Decrypt"], chaves = local.decifram, servicos = concat(["lambda"], tolist(local.leem)) },
      { sid = "Cifrar", acoes = ["kms:GenerateDataKey"], chaves = var.contexto.chave_kms[*], servicos = local.enviam },
      { sid = "CifrarAlerta", acoes = ["kms:Decrypt", "kms:GenerateDataKey"], chaves = local.alerta[*], servicos = [for s in local.enviam : s if s == "sns"] },
    ] :
    {
      sid       = uso.sid
      acoes     = uso.acoes
      recursos  = uso.chaves
      condicoes = [{ teste = "StringEquals", chave = "kms:ViaService", valores = [for s in uso.servicos : "${s}.${var.contexto.regiao}.amazonaws.com"] }]
    } if length(uso.chaves) > 0 && length(uso.servicos) > 0
  ]

  permissoes = [
    for p in concat(var.permissoes, local.permissoes_chave) : merge(
      { Sid = p.sid, Effect = "Allow", Action = sort(p.acoes), Resource = p.recursos },
      length(p.condicoes) == 0 ? {} : {
        Condition = {
          for teste in distinct([for c in p.condicoes : c.teste]) :
          teste => { for c in p.condicoes : c.chave => c.valores if c.teste == teste }
        }
      },
    )
  ]
}

resource "aws_iam_role" "esta" {
  name                 = "${local.nome}-role"
  description          = "Execution role of ${local.nome}: its own table, queue or secret and nothing else."
  max_session_duration = 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
      Condition = { StringEquals = { "aws:SourceAccount" = var.contexto.conta } }
    }]
  })

  tags = var.tags
}

resource "aws_iam_role_policy" "esta" {
  name = "${local.nome}-policy"
  role = aws_iam_role.esta.name

  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = concat([local.permissao_log], local.rastrear ? [local.permissao_rastro] : [], local.permissoes)
  })

  lifecycle {
    precondition {
      condition     = var.recurso_curinga_justificado != null || !contains(flatten([for p in var.permissoes : p.recursos]), "*")
      error_message = "${var.id_logico}: the resource \"*\" needs recurso_curinga_justificado."
    }
  }
}

# Declared here, else Lambda makes it at the first invocation, keeps it for ever and destroy leaves it behind.
resource "aws_cloudwatch_log_group" "esta" {
  #checkov:skip=CKV_AWS_158:By variable (chave_kms); without it CloudWatch Logs encrypts with its own key. No card number or token is ever written there.
  #checkov:skip=CKV_AWS_338:Retention is a variable: 30 days are what an operator needs, and logs kept for less are less to leak.
  name              = "/aws/lambda/${local.nome}"
  retention_in_days = var.contexto.retencao_logs_dias
  kms_key_id        = var.contexto.chave_kms
  tags              = var.tags
}

resource "aws_lambda_function" "esta" {
  #checkov:skip=CKV_AWS_116:A function invoked by a queue, a stream or the state machine has its failure kept by that caller (DLQ, on-failure, Catch); the HTTP ones answer theirs.
  #checkov:skip=CKV_AWS_117:Everything it reaches is an AWS endpoint or a public https gateway: a VPC would add a NAT and keep nobody out.
  #checkov:skip=CKV_AWS_115:By variable (limites_concorrencia): a reserve taken by default would starve the account of who deploys it.
  #checkov:skip=CKV_AWS_272:The artifact is built from hash-pinned locks, byte for byte again, in a private versioned bucket; signing needs a profile of the account.
  #checkov:skip=CKV_AWS_173:By variable (chave_kms); without it Lambda encrypts with its own key. No variable holds a secret: the gateway key is a SecureString.
  #checkov:skip=CKV_AWS_50:By variable (rastreamento): it needs xray:PutTraceSegments on "*", which no function has by default.
  function_name = local.nome
  description   = "${var.servico}: ${local.propriedades.Handler}"
  role          = aws_iam_role.esta.arn

  s3_bucket        = var.contexto.artefato.bucket
  s3_key           = var.contexto.artefato.chave
  source_code_hash = var.contexto.artefato.hash

  runtime       = var.contexto.runtime
  architectures = [var.contexto.arquitetura]
  handler       = local.propriedades.Handler
  timeout       = local.timeout
  memory_size   = local.memoria

  kms_key_arn = var.contexto.chave_kms

  reserved_concurrent_executions = lookup(var.contexto.limites_concorrencia, var.id_logico, var.concorrencia_reservada)

  tracing_config {
    mode = local.rastrear ? "Active" : "PassThrough"
  }

  environment {
    variables = merge(local.variaveis_comuns, var.ambiente_variaveis)
  }

  tags = var.tags

  # The function never runs before it may write its log, and its log group outlives it on destroy.
  depends_on = [aws_iam_role_policy.esta, aws_cloudwatch_log_group.esta]
}

resource "aws_cloudwatch_metric_alarm" "erros" {
  alarm_name        = "${local.nome}-erros"
  alarm_description = "${local.nome}: mais de ${var.alarme_erros.limiar} erros em ${var.alarme_erros.periodo_s} s. Veja o log ${aws_cloudwatch_log_group.esta.name}."

  namespace           = "AWS/Lambda"
  metric_name         = "Errors"
  dimensions          = { FunctionName = local.nome }
  statistic           = "Sum"
  period              = var.alarme_erros.periodo_s
  evaluation_periods  = var.alarme_erros.periodos
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.alarme_erros.limiar
  treat_missing_data  = "notBreaching"

  alarm_actions = [var.arn_topico_alertas]
  ok_actions    = [var.arn_topico_alertas]

  tags = var.tags
}
