# Who is told, and when. Everything here goes to the operations topic, never to the stores' one.

locals {
  nome_alarme_perda = "ffv-lab-consumidor-pedidos-perda-possivel"
  arn_alarme_perda  = "arn:${var.contexto.particao}:cloudwatch:${var.contexto.regiao}:${var.contexto.conta}:alarm:${local.nome_alarme_perda}"
}

resource "aws_cloudwatch_metric_alarm" "atraso" {
  alarm_name        = "ffv-lab-consumidor-pedidos-iterator-age"
  alarm_description = "O painel está atrasado: o registro mais antigo do stream espera há mais de 1 minuto. Além de 24 h há perda."

  namespace           = "AWS/Lambda"
  metric_name         = "IteratorAge"
  dimensions          = { FunctionName = module.consumidor.nome }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 60000
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.operacao.arn]
  ok_actions    = [aws_sns_topic.operacao.arn]
}

resource "aws_cloudwatch_metric_alarm" "dlq" {
  alarm_name        = "ffv-lab-consumidor-pedidos-dlq-nao-vazia"
  alarm_description = "O consumidor descartou registros: rode scripts/reprocessar.sh antes que passem 24 h. Fila ${aws_sqs_queue.dlq.name}."

  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.dlq.name }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.operacao.arn]
  ok_actions    = [aws_sns_topic.operacao.arn]
}

# After an outage the first batch shows how old the oldest record it may be handed is: near that, what was before it went to
# the on-failure destination or is gone. The
# alarm starts the reconciliation by itself, and tells people that it did.
resource "aws_cloudwatch_metric_alarm" "perda_possivel" {
  alarm_name        = local.nome_alarme_perda
  alarm_description = "O consumidor leu registros quase na idade máxima: o que veio antes foi descartado ou expirou. A reconciliação foi iniciada (${module.reconciliar.nome})."

  namespace           = "AWS/Lambda"
  metric_name         = "IteratorAge"
  dimensions          = { FunctionName = module.consumidor.nome }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  # The consumer is never handed a record above its maximum age: an hour below it, in ms.
  threshold          = (var.idade_maxima_registro_s - 3600) * 1000
  treat_missing_data = "notBreaching"

  alarm_actions = [aws_sns_topic.operacao.arn, module.reconciliar.arn]
  ok_actions    = [aws_sns_topic.operacao.arn]

  depends_on = [aws_lambda_permission.reconciliar_pelo_alarme]
}

# A mapping that is switched off publishes no IteratorAge: silence would look like health. Six hours without one
# invocation, of 40,000 orders a day, is a consumer that is off, with 18 h left to switch it on.
resource "aws_cloudwatch_metric_alarm" "parado" {
  count = var.alarme_consumidor_parado ? 1 : 0

  alarm_name        = "ffv-lab-consumidor-pedidos-parado"
  alarm_description = "Nenhuma execução do consumidor em 6 h: o mapeamento pode estar desligado. Depois de 24 h as transições se perdem."

  namespace           = "AWS/Lambda"
  metric_name         = "Invocations"
  dimensions          = { FunctionName = module.consumidor.nome }
  statistic           = "Sum"
  period              = 3600
  evaluation_periods  = 6
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = "breaching"

  alarm_actions = [aws_sns_topic.operacao.arn]
  ok_actions    = [aws_sns_topic.operacao.arn]
}

# The consumer's own evidence that a transition never came. Age and the queue say when records expire or are discarded; a stream
# switched off and on, or a mapping made again from LATEST, loses them with neither.
resource "aws_cloudwatch_metric_alarm" "salto" {
  alarm_name        = "ffv-lab-consumidor-pedidos-salto"
  alarm_description = "Um pedido saiu de um status que o painel não mostrava: ao menos uma transição dele não chegou. Pedido no log de ${module.consumidor.nome}."

  namespace           = "Cadencia"
  metric_name         = "TransicoesComSalto"
  dimensions          = { service = "painel" }
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [aws_sns_topic.operacao.arn]
  ok_actions    = [aws_sns_topic.operacao.arn]
}

locals {
  perguntas = [
    {
      pergunta = "O consumidor está atrasado? (IteratorAge acima de 60 s por 3 min: alarme)"
      estat    = "Maximum"
      periodo  = 60
      linha    = 60000
      metricas = [["AWS/Lambda", "IteratorAge", "FunctionName", module.consumidor.nome, { label = "Idade do mais antigo (ms)" }]]
    },
    {
      pergunta = "Algum lote está falhando? (erros acima de 0, sustentado)"
      estat    = "Sum"
      periodo  = 300
      linha    = 0
      metricas = [
        ["AWS/Lambda", "Errors", "FunctionName", module.consumidor.nome, { label = "Execuções com erro" }],
        # A partial failure is not an error of the invocation: the function counts it itself.
        ["Cadencia", "RegistrosComFalha", "service", "painel", { label = "Registros com falha" }],
      ]
    },
    {
      pergunta = "A fila de descartados está enchendo? (acima de 0 por uma hora)"
      estat    = "Maximum"
      periodo  = 300
      linha    = 0
      metricas = [["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", aws_sqs_queue.dlq.name, { label = "Mensagens" }]]
    },
    {
      pergunta = "Alguma transição se perdeu? (saltos acima de 0: alarme)"
      estat    = "Sum"
      periodo  = 300
      linha    = 0
      metricas = [
        ["Cadencia", "TransicoesComSalto", "service", "painel", { label = "Saltos vistos pelo consumidor" }],
        ["Cadencia", "LacunasMarcadas", "service", "painel", { label = "Lacunas achadas pela reconciliação" }],
      ]
    },
    {
      pergunta = "Quantas transições são gravadas por minuto? (compare com a linha de base)"
      estat    = "Sum"
      periodo  = 60
      linha    = null
      metricas = [
        ["Cadencia", "TransicoesGravadas", "service", "painel", { label = "Gravadas" }],
        ["Cadencia", "TransicoesRepetidas", "service", "painel", { label = "Repetidas (reenvio)" }],
      ]
    },
    {
      pergunta = "Quanto uma mudança demora a aparecer? (a pior de cada minuto, ms)"
      estat    = "Maximum"
      periodo  = 60
      linha    = null
      metricas = [["Cadencia", "AtrasoDoPainel", "service", "painel", { label = "Da mudança à gravação" }]]
    },
    {
      pergunta = "Os alertas publicados acompanham os cancelamentos de pedidos separados?"
      estat    = "Sum"
      periodo  = 300
      linha    = null
      metricas = [
        ["Cadencia", "CancelamentosAposSeparacao", "service", "painel", { label = "Cancelados após separados" }],
        ["Cadencia", "AlertasReposicaoPublicados", "service", "painel", { label = "Alertas publicados" }],
        ["Cadencia", "ReposicoesReconhecidas", "service", "painel", { label = "Reconhecidas pela loja" }],
      ]
    },
  ]
}

resource "aws_cloudwatch_dashboard" "painel" {
  dashboard_name = "cadencia-painel"

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
            period  = p.periodo
            metrics = p.metricas
            yAxis   = { left = { min = 0 } }
          },
          p.linha == null ? {} : { annotations = { horizontal = [{ label = "limite", value = p.linha }] } },
        )
      }
    ]
  })
}
