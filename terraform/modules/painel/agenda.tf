# The alarm starts a reconciliation and fires once. What that one leaves — it ran out of time, or changes were younger than
# the grace — this finishes: it asks every few minutes, and nearly always the answer is one item read.

resource "aws_cloudwatch_event_rule" "pendencia" {
  name                = module.reconciliar.nome
  description         = "Asks ${module.reconciliar.nome} whether a reconciliation was left unfinished, or has to be repeated."
  schedule_expression = "rate(${var.intervalo_pendencia_min} minutes)"
}

resource "aws_cloudwatch_event_target" "pendencia" {
  rule  = aws_cloudwatch_event_rule.pendencia.name
  arn   = module.reconciliar.arn
  input = jsonencode({ pendencia = true })

  # The next one makes up for one that is late or lost.
  retry_policy {
    maximum_event_age_in_seconds = 60 * var.intervalo_pendencia_min
    maximum_retry_attempts       = 2
  }
}

resource "aws_lambda_permission" "reconciliar_pela_agenda" {
  statement_id  = "agenda-pendencia"
  action        = "lambda:InvokeFunction"
  function_name = module.reconciliar.nome
  principal     = "events.amazonaws.com"
  source_arn    = aws_cloudwatch_event_rule.pendencia.arn
}
