# Who is told, and when. The checks heal what is safe; an alarm says that there was something to heal, or that a person
# has to look.

locals {
  # Business metrics that should be zero. `periodos`: how many periods in a row of `periodo_s` seconds.
  alarmes_de_contagem = {
    cesta-reservas-orfas-liberadas = {
      metrica   = "OrfasLiberadas"
      periodo_s = 300
      periodos  = 1
      descricao = "A conferência devolveu ao saldo reservas de pedidos desfeitos ou inexistentes: nada a fazer com o estoque, mas algo as deixou para trás. Veja o log de ${module.conferir_reservas.nome}."
    }
    cesta-reservas-presas = {
      metrica   = "ReservasPresas"
      periodo_s = 900
      periodos  = 1
      descricao = "Há reservas de pedidos que não andam há mais de ${var.reservas.limite_s} s: veja a execução da saga de cada um. Pedidos no log de ${module.conferir_reservas.nome}."
    }
    cesta-reservas-sem-decisao = {
      metrica   = "ReservasSemDecisao"
      periodo_s = 900
      periodos  = 1
      descricao = "Há unidades de pedidos que uma pessoa encerrou há mais de ${floor(var.reservas.limite_decisao_s / 86400)} dias sem decidir o destino delas: ninguém mais as compra. Pedidos no log de ${module.conferir_reservas.nome}."
    }
    cesta-baixas-tardias = {
      metrica   = "BaixasTardias"
      periodo_s = 900
      periodos  = 1
      descricao = "A conferência deu baixa no que o stream deveria ter dado há mais de ${var.reservas.limite_s} s: veja ${module.baixar_reserva.nome} e a fila ${local.nome_dlq}."
    }
    cesta-baixas-sem-reserva = {
      metrica   = "BaixasSemReserva"
      periodo_s = 300
      periodos  = 1
      descricao = "Um pedido confirmado não tinha reserva no estoque: vendeu-se sem unidades separadas. Pedido no log de ${module.baixar_reserva.nome}."
    }
    cesta-cobrancas-orfas = {
      metrica   = "CobrancasOrfas"
      periodo_s = 900
      periodos  = 1
      descricao = "O gateway tem cobrança aprovada de pedido que não foi confirmado: está na fila humana, para estorno."
    }
    cesta-conferencias-interrompidas = {
      metrica   = "ConferenciasInterrompidas"
      periodo_s = 60 * var.cobrancas.intervalo_min
      periodos  = 3
      descricao = "A conferência de cobranças não consegue falar com o gateway há três rodadas: confira o gateway e a chave de acesso."
    }
    cesta-conferencias-com-falha = {
      metrica   = "ConferenciasComFalha"
      periodo_s = 900
      periodos  = 2
      descricao = "Itens que as conferências não conseguem ler ou decidir: veja os logs de ${module.conferir_reservas.nome} e ${module.conferir_cobrancas.nome}."
    }
  }
}

resource "aws_cloudwatch_metric_alarm" "contagem" {
  for_each = local.alarmes_de_contagem

  alarm_name        = each.key
  alarm_description = each.value.descricao

  namespace           = "Cesta"
  metric_name         = each.value.metrica
  dimensions          = { service = "cesta" }
  statistic           = "Sum"
  period              = each.value.periodo_s
  evaluation_periods  = each.value.periodos
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [var.arn_topico_alertas]
  ok_actions    = [var.arn_topico_alertas]
}

resource "aws_cloudwatch_metric_alarm" "dlq" {
  alarm_name        = "${local.nome_dlq}-nao-vazia"
  alarm_description = "O stream descartou pedidos confirmados: a conferência dá a baixa em até ${var.reservas.intervalo_min} min; descubra por que ${module.baixar_reserva.nome} falhou e apague a mensagem."

  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.dlq.name }
  statistic           = "Maximum"
  period              = 300
  evaluation_periods  = 1
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  treat_missing_data  = "notBreaching"

  alarm_actions = [var.arn_topico_alertas]
  ok_actions    = [var.arn_topico_alertas]
}

resource "aws_cloudwatch_metric_alarm" "atraso" {
  alarm_name        = "cesta-baixar-reserva-atraso"
  alarm_description = "A baixa das reservas está mais de 5 min atrasada: o item de estoque cresce enquanto isso."

  namespace           = "AWS/Lambda"
  metric_name         = "IteratorAge"
  dimensions          = { FunctionName = module.baixar_reserva.nome }
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  comparison_operator = "GreaterThanThreshold"
  threshold           = 300000
  treat_missing_data  = "notBreaching"

  alarm_actions = [var.arn_topico_alertas]
  ok_actions    = [var.arn_topico_alertas]
}

# A check that does not run finds nothing, and silence would look like health.
resource "aws_cloudwatch_metric_alarm" "parada" {
  for_each = var.alarme_conferencia_parada ? local.agenda : {}

  alarm_name        = "${each.key}-parada"
  alarm_description = "A conferência não roda há três intervalos: veja o agendamento ${local.nome_grupo}/${each.key}."

  namespace           = "AWS/Lambda"
  metric_name         = "Invocations"
  dimensions          = { FunctionName = each.key }
  statistic           = "Sum"
  period              = 60 * each.value.intervalo_min
  evaluation_periods  = 3
  comparison_operator = "LessThanThreshold"
  threshold           = 1
  treat_missing_data  = "breaching"

  alarm_actions = [var.arn_topico_alertas]
  ok_actions    = [var.arn_topico_alertas]
}
