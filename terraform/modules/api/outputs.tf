output "id" {
  description = "Id of the API."
  value       = aws_apigatewayv2_api.esta.id
}

output "url" {
  description = "Base URL of the API, without a trailing slash, known only once its routes are deployed."
  value = var.prefixo_url == null ? aws_apigatewayv2_api.esta.api_endpoint : join("/", [
    var.prefixo_url, aws_apigatewayv2_api.esta.id, aws_apigatewayv2_stage.padrao.name,
  ])
}

output "endpoint" {
  description = "The API's own address, known before its routes are deployed: for what has to be named in them (a sign-in's return address)."
  value       = var.prefixo_url == null ? aws_apigatewayv2_api.esta.api_endpoint : "${var.prefixo_url}/${aws_apigatewayv2_api.esta.id}/$default"
}
