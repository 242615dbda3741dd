# When the checks run. A run that is late or lost is made up by the next one, so a failed start is tried twice and dropped.

locals {
  agenda = {
    cesta-conferir-reservas  = { intervalo_min = var.reservas.intervalo_min, arn_funcao = module.conferir_reservas.arn }
    cesta-conferir-cobrancas = { intervalo_min = var.cobrancas.intervalo_min, arn_funcao = module.conferir_cobrancas.arn }
  }
  nome_grupo = "cesta-conferencias"
}

resource "aws_scheduler_schedule_group" "conferencias" {
  name = local.nome_grupo
}

resource "aws_iam_role" "agenda" {
  for_each = local.agenda

  name                 = "${each.key}-agenda-role"
  description          = "EventBridge Scheduler: invokes ${each.key} and nothing else."
  max_session_duration = 3600

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "scheduler.amazonaws.com" }
      Condition = {
        StringEquals = { "aws:SourceAccount" = var.contexto.conta }
        # The group is the narrowest source the service states:
        # https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
        ArnEquals = {
          "aws:SourceArn" = "arn:${var.contexto.particao}:scheduler:${var.contexto.regiao}:${var.contexto.conta}:schedule-group/${local.nome_grupo}"
        }
      }
    }]
  })
}

resource "aws_iam_role_policy" "agenda" {
  for_each = local.agenda

  name = "${each.key}-agenda-policy"
  role = aws_iam_role.agenda[each.key].name

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat([{
      Sid      = "InvocarConferencia"
      Effect   = "Allow"
      Action   = ["lambda:InvokeFunction"]
      Resource = [each.value.arn_funcao]
      }], [
      # https://docs.aws.amazon.com/scheduler/latest/UserGuide/encryption-rest.html
      for chaves in [concat(var.contexto.chave_kms[*], var.contexto.chaves_anteriores)] : {
        Sid       = "LerAgendamento"
        Effect    = "Allow"
        Action    = ["kms:Decrypt"]
        Resource  = chaves
        Condition = { StringEquals = { "kms:ViaService" = ["scheduler.${var.contexto.regiao}.amazonaws.com"] } }
      } if length(chaves) > 0
    ])
  })
}

resource "aws_scheduler_schedule" "conferencias" {
  #checkov:skip=CKV_AWS_297:By variable (chave_kms). A schedule holds a function's ARN and a rate, nothing of an order.
  for_each = local.agenda

  name        = each.key
  description = "Runs ${each.key} every ${each.value.intervalo_min} minutes."
  group_name  = aws_scheduler_schedule_group.conferencias.name
  state       = var.habilitar_agenda ? "ENABLED" : "DISABLED"
  kms_key_arn = var.contexto.chave_kms

  schedule_expression = "rate(${each.value.intervalo_min} ${each.value.intervalo_min == 1 ? "minute" : "minutes"})"

  flexible_time_window {
    mode = "OFF"
  }

  target {
    arn      = each.value.arn_funcao
    role_arn = aws_iam_role.agenda[each.key].arn

    retry_policy {
      maximum_event_age_in_seconds = 60 * max(1, each.value.intervalo_min)
      maximum_retry_attempts       = 2
    }
  }

  # A schedule that starts before its role may invoke would fail its first run.
  depends_on = [aws_iam_role_policy.agenda]
}
