output "nome" {
  description = "Name of the function."
  value       = aws_lambda_function.esta.function_name
}

output "arn" {
  description = "ARN of the function, unqualified."
  value       = aws_lambda_function.esta.arn
}

output "arn_invocacao" {
  description = "Invoke ARN, for API Gateway integrations."
  value       = aws_lambda_function.esta.invoke_arn
}

output "nome_papel" {
  description = "Name of the execution role."
  value       = aws_iam_role.esta.name
}

output "nome_alarme_erros" {
  description = "Name of the alarm on the function's errors."
  value       = aws_cloudwatch_metric_alarm.erros.alarm_name
}

output "timeout_s" {
  description = "Timeout of the function in seconds, as template.yaml says."
  value       = local.timeout
}

output "politica" {
  description = "The role's policy (JSON), for tests that compare it with what the code calls."
  value       = aws_iam_role_policy.esta.policy
}
