locals {
  endereco = one(aws_apigatewayv2_api.esta[*].api_endpoint)
  url_api = !var.habilitar_api_http ? null : var.prefixo_url == null ? local.endereco : join("/", [
    var.prefixo_url, aws_apigatewayv2_api.esta[0].id, aws_apigatewayv2_stage.padrao[0].name,
  ])
  urls_funcoes = {
    for nome, u in aws_lambda_function_url.funcao : nome =>
    var.prefixo_url_funcao == null ? trimsuffix(u.function_url, "/") : "${var.prefixo_url_funcao}/${u.function_name}"
  }
}

output "id" {
  description = "Id of the API; null without one."
  value       = one(aws_apigatewayv2_api.esta[*].id)
}

output "url" {
  description = <<-EOT
    Base URL, without a trailing slash, known only once the routes are deployed. Without an HTTP API it is the function's
    own when all routes belong to one, and null when they do not: nothing would choose between them.
  EOT
  value       = var.habilitar_api_http ? local.url_api : length(local.urls_funcoes) == 1 ? one(values(local.urls_funcoes)) : null
}

output "url_da_rota" {
  description = "Base URL to put before the path of each route: the API's, or without one the function's own."
  value       = { for rota, r in var.rotas : rota => var.habilitar_api_http ? local.url_api : local.urls_funcoes[r.nome_funcao] }
}

output "endpoint" {
  description = "The API's own address, known before its routes are deployed: for what has to be named in them (a sign-in's return address)."
  value       = !var.habilitar_api_http ? null : var.prefixo_url == null ? local.endereco : "${var.prefixo_url}/${aws_apigatewayv2_api.esta[0].id}/$default"
}
