# Who is told, and when.

# No KMS by default. CloudWatch cannot publish through the AWS managed key (alias/aws/sns), whose policy cannot be changed:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
# A customer managed key costs money each month and stays 7 to 30 days after destroy, tagged; an alarm's message carries
# names, a threshold and a reading, nothing of a customer. Whoever needs it gives chave_kms or chave_kms_alertas.
resource "aws_sns_topic" "alertas" {
  name              = "cesta-saga-alertas"
  display_name      = "Cesta: alertas da saga"
  kms_master_key_id = var.chave_kms_alertas
}

resource "aws_sns_topic_policy" "alertas" {
  arn = aws_sns_topic.alertas.arn

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([
      {
        Sid       = "AlarmesDestaConta"
        Effect    = "Allow"
        Principal = { Service = "cloudwatch.amazonaws.com" }
        Action    = "sns:Publish"
        Resource  = aws_sns_topic.alertas.arn
        Condition = {
          StringEquals = { "aws:SourceAccount" = var.conta }
          # Any alarm of this account and region: painel and fila notify here too.
          ArnLike = { "aws:SourceArn" = "arn:${var.particao}:cloudwatch:${var.regiao}:${var.conta}:alarm:*" }
        }
      },
      ], !var.exigir_tls ? [] : [
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

locals {
  # The four alarms on a count that should be zero share one form; each says what a person reads when it fires.
  alarmes_maquina = {
    cesta-saga-execucoes-falhas = {
      metrica   = "ExecutionsFailed"
      descricao = "Uma execução da saga terminou em FAILED: o pedido parou no meio e ninguém foi avisado pela fila humana. Veja o histórico da execução."
    }
    cesta-saga-execucoes-expiradas = {
      metrica   = "ExecutionsTimedOut"
      descricao = "Uma execução da saga passou do tempo máximo: confira estoque e cobrança do pedido."
    }
    cesta-saga-execucoes-abortadas = {
      metrica   = "ExecutionsAborted"
      descricao = "Uma execução da saga foi abortada por alguém: confira estoque e cobrança do pedido."
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "compensacao_pendente" {
  alarm_name        = "cesta-saga-compensacao-pendente"
  alarm_description = "Há saga esperando uma pessoa: uma compensação esgotou as tentativas. Leia a fila ${var.filas.compensacao_falhou}."

  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = var.filas.compensacao_falhou }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.alertas.arn]
  ok_actions    = [aws_sns_topic.alertas.arn]
}

resource "aws_cloudwatch_metric_alarm" "entrada_dlq" {
  alarm_name        = "cesta-pedidos-criados-dlq-nao-vazia"
  alarm_description = "Um pedido aceito não conseguiu iniciar a saga depois de 5 tentativas. Leia a fila ${var.filas.pedidos_criados_dlq}."

  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = var.filas.pedidos_criados_dlq }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.alertas.arn]
  ok_actions    = [aws_sns_topic.alertas.arn]
}

# Age, not count: a peak makes the queue long without anything being wrong; an old message means nobody is consuming.
resource "aws_cloudwatch_metric_alarm" "entrada_atrasada" {
  alarm_name        = "cesta-pedidos-criados-atrasada"
  alarm_description = "O pedido mais antigo espera há mais de 10 minutos na fila ${var.filas.pedidos_criados}: a saga não está sendo iniciada."

  namespace           = "AWS/SQS"
  metric_name         = "ApproximateAgeOfOldestMessage"
  dimensions          = { QueueName = var.filas.pedidos_criados }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 2
  comparison_operator = "GreaterThanThreshold"
  threshold           = 600
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.alertas.arn]
  ok_actions    = [aws_sns_topic.alertas.arn]
}

resource "aws_cloudwatch_metric_alarm" "maquina" {
  for_each = local.alarmes_maquina

  alarm_name        = each.key
  alarm_description = each.value.descricao

  namespace           = "AWS/States"
  metric_name         = each.value.metrica
  dimensions          = { StateMachineArn = var.arn_maquina_saga }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.alertas.arn]
  ok_actions    = [aws_sns_topic.alertas.arn]
}

# A person is waiting at the terminal, and may have closed it: a compensation that failed must not depend on who looks.
resource "aws_cloudwatch_metric_alarm" "compensacao_manual" {
  for_each = {
    cesta-compensacao-manual-falhas = {
      metrica   = "ExecutionsFailed"
      descricao = "Uma compensação pedida por uma pessoa falhou: o pedido continua pendente e a mensagem continua na fila ${var.filas.compensacao_falhou}."
    }
    cesta-compensacao-manual-abortadas = {
      metrica   = "ExecutionsAborted"
      descricao = "Uma compensação pedida por uma pessoa foi abortada no meio: confira estoque e cobrança do pedido e reprocesse."
    }
  }

  alarm_name        = each.key
  alarm_description = each.value.descricao

  namespace           = "AWS/States"
  metric_name         = each.value.metrica
  dimensions          = { StateMachineArn = var.arn_compensacao }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.alertas.arn]
  ok_actions    = [aws_sns_topic.alertas.arn]
}

# One data point for each call refused and each opening: while it is open and somebody buys, it speaks; when nobody buys,
# nobody is affected. Two operations of a sale, and what asks about a charge.
resource "aws_cloudwatch_metric_alarm" "disjuntor" {
  for_each = {
    cobrar    = "cobranças falham de imediato e os pedidos são compensados"
    estornar  = "estornos falham de imediato e os pedidos vão para a fila humana"
    consultar = "consultas de cobrança falham de imediato"
  }

  alarm_name        = "cesta-gateway-disjuntor-${each.key}"
  alarm_description = "O gateway não responde e o disjuntor de ${each.key} abriu: ${each.value}, sem nada ser enviado. Fecha sozinho quando o gateway voltar; só confirme com o gateway o que aconteceu."

  namespace           = "Cesta"
  metric_name         = "DisjuntorAberto"
  dimensions          = { service = "cesta", operacao = each.key }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.alertas.arn]
  ok_actions    = [aws_sns_topic.alertas.arn]
}

resource "aws_cloudwatch_metric_alarm" "duracao_p99" {
  alarm_name        = "cesta-saga-lenta"
  alarm_description = "O p99 da duração da saga passou de ${var.limiar_duracao_p99_ms} ms por 15 minutos: gateway lento ou estoque disputado."

  namespace           = "AWS/States"
  metric_name         = "ExecutionTime"
  dimensions          = { StateMachineArn = var.arn_maquina_saga }
  extended_statistic  = "p99"
  period              = 300
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = var.limiar_duracao_p99_ms
  treat_missing_data  = "notBreaching"

  # CloudWatch calls fewer than 1,000 samples "few" for a p99 (10 / (1 - 0.99)); at 3,200 orders a day a period has a dozen.
  # "ignore" would keep this alarm silent for ever; three periods in a row are what spares people one slow order.
  evaluate_low_sample_count_percentiles = "evaluate"

  alarm_actions = [aws_sns_topic.alertas.arn]
  ok_actions    = [aws_sns_topic.alertas.arn]
}
