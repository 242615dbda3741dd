output "arn_topico_alertas" {
  description = "ARN of the topic cesta-saga-alertas."
  # Through the policy: an alarm created before it would lose its first notification.
  value = aws_sns_topic_policy.alertas.arn
}

output "nome_alarme_compensacao" {
  description = "Name of the alarm on the human queue."
  value       = aws_cloudwatch_metric_alarm.compensacao_pendente.alarm_name
}
