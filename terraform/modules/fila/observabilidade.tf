# Who is told, and the dashboard: one widget per question.

locals {
  # Through the policy: an alarm created before it would lose its first notification.
  arn_topico = aws_sns_topic_policy.alertas.arn
}

# Without KMS by default, for the reasons given in modules/observabilidade.
resource "aws_sns_topic" "alertas" {
  name              = "${var.projeto}-alertas"
  display_name      = "Cadência: alertas da fila"
  kms_master_key_id = var.chave_kms_alertas
  tags              = local.tags
}

resource "aws_sns_topic_policy" "alertas" {
  arn = aws_sns_topic.alertas.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      {
        Sid       = "AlarmesDestaFila"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alertas.arn
        Condition = {
          StringEquals = { "aws:SourceAccount" = var.contexto.conta }
          ArnLike = {
            "aws:SourceArn" = "arn:${var.contexto.particao}:cloudwatch:${var.contexto.regiao}:${var.contexto.conta}:alarm:${var.projeto}-*"
          }
        }
      },
      ], !var.contexto.exigir_tls ? [] : [
      {
        Sid    = "SomenteTls"
        Effect = "Deny"
        # A denial names everyone, so that nobody slips past it.
        Principal = "*"
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alertas.arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ])
  })
}

resource "aws_cloudwatch_metric_alarm" "dlq_nao_vazia" {
  alarm_name        = "${local.nome_fila}-dlq-nao-vazia"
  alarm_description = "Há pedido que falhou 5 vezes e parou na fila ${local.nome_fila}-dlq. Rode scripts/dlq.sh listar; corrija a causa e devolva, ou descarte com motivo."

  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.dlq.name }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [local.arn_topico]
  ok_actions    = [local.arn_topico]
  tags          = local.tags
}

# Depth is not alarmed: a long queue is the peak being absorbed. An old message is the consumer not keeping its promise.
resource "aws_cloudwatch_metric_alarm" "atrasada" {
  alarm_name        = "${local.nome_fila}-atrasada"
  alarm_description = "O pedido mais antigo espera há mais de 15 minutos em ${local.nome_fila}: o consumidor não dá conta ou parou."

  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  dimensions          = { QueueName = aws_sqs_queue.pedidos.name }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 2
  comparison_operator = "GreaterThanThreshold"
  threshold           = 900
  treat_missing_data  = "notBreaching"

  alarm_actions = [local.arn_topico]
  ok_actions    = [local.arn_topico]
  tags          = local.tags
}

locals {
  perguntas = [
    {
      pergunta = "Quantos pedidos esperam na fila?"
      estat    = "Maximum"
      metricas = [
        ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", aws_sqs_queue.pedidos.name, { label = "Esperando" }],
        ["AWS/SQS", "ApproximateNumberOfMessagesNotVisible", "QueueName", aws_sqs_queue.pedidos.name, { label = "Em processamento" }],
      ]
      linha = null
    },
    {
      pergunta = "Há quanto tempo espera o pedido mais antigo? (acima de 15 min: alarme; segundos)"
      estat    = "Maximum"
      metricas = [["AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", aws_sqs_queue.pedidos.name, { label = "Idade" }]]
      linha    = 900
    },
    {
      pergunta = "Algum pedido parou na DLQ? (acima de 0: alarme)"
      estat    = "Maximum"
      metricas = [["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", aws_sqs_queue.dlq.name, { label = "Na DLQ" }]]
      linha    = 0
    },
    {
      pergunta = "O consumidor acompanha a entrada? (mensagens por minuto)"
      estat    = "Sum"
      metricas = [
        ["AWS/SQS", "NumberOfMessagesSent", "QueueName", aws_sqs_queue.pedidos.name, { label = "Entraram" }],
        ["AWS/SQS", "NumberOfMessagesDeleted", "QueueName", aws_sqs_queue.pedidos.name, { label = "Saíram" }],
      ]
      linha = null
    },
    {
      pergunta = "Quantas duplicatas foram descartadas? (informação, não alarme)"
      estat    = "Sum"
      metricas = [
        ["Cadencia", "DuplicatasDescartadas", "service", "fila", { label = "Entregas repetidas" }],
        ["Cadencia", "RequisicoesRepetidas", "service", "fila", { label = "POST repetidos" }],
      ]
      linha = null
    },
    {
      pergunta = "O que aconteceu com os pedidos?"
      estat    = "Sum"
      metricas = [
        ["Cadencia", "PedidosRecebidos", "service", "fila", { label = "Recebidos" }],
        ["Cadencia", "RequisicoesRecusadas", "service", "fila", { label = "Malfeitos (API)" }],
        ["Cadencia", "PedidosConcluidos", "service", "fila", { label = "Concluídos" }],
        ["Cadencia", "PedidosRecusados", "service", "fila", { label = "Recusados" }],
        ["Cadencia", "MensagensDevolvidas", "service", "fila", { label = "Devolvidos à fila" }],
      ]
      linha = null
    },
  ]
}

resource "aws_cloudwatch_dashboard" "fila" {
  dashboard_name = var.projeto

  dashboard_body = jsonencode({
    widgets = [
      for i, p in local.perguntas : {
        type   = "metric"
        x      = (i % 3) * 8
        y      = floor(i / 3) * 6
        width  = 8
        height = 6
        properties = merge(
          {
            title   = p.pergunta
            view    = "timeSeries"
            region  = var.contexto.regiao
            stat    = p.estat
            period  = 60
            metrics = p.metricas
            yAxis   = { left = { min = 0 } }
          },
          p.linha == null ? {} : { annotations = { horizontal = [{ label = "limite", value = p.linha }] } },
        )
      }
    ]
  })
}
