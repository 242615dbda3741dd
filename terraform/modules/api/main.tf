# An HTTP API (API Gateway v2) in front of functions: routes, access log, throttling.
# Where the target has no HTTP API (habilitar_api_http = false), each function has a URL of its own instead.

locals {
  funcoes = { for r in values(var.rotas) : r.nome_funcao => r.arn_invocacao... }
  rotas   = var.habilitar_api_http ? var.rotas : {}
}

resource "aws_lambda_function_url" "funcao" {
  #checkov:skip=CKV_AWS_258:Only made where the target has no HTTP API, which variables.tf allows in ambiente localstack alone.
  for_each = var.habilitar_api_http ? {} : local.funcoes

  function_name      = each.key
  authorization_type = "NONE"
}

resource "aws_apigatewayv2_api" "esta" {
  count = var.habilitar_api_http ? 1 : 0

  name          = var.nome
  protocol_type = "HTTP"
  tags          = var.tags
}

resource "aws_apigatewayv2_integration" "funcao" {
  for_each = var.habilitar_api_http ? local.funcoes : {}

  api_id                 = aws_apigatewayv2_api.esta[0].id
  integration_type       = "AWS_PROXY"
  integration_method     = "POST"
  integration_uri        = each.value[0]
  payload_format_version = "2.0"
}

resource "aws_apigatewayv2_route" "rota" {
  #checkov:skip=CKV_AWS_309:By variable (autorizador_jwt, and the panel by habilitar_login): a route says protegida or is open on purpose.
  for_each = local.rotas

  api_id    = aws_apigatewayv2_api.esta[0].id
  route_key = each.key
  target    = "integrations/${aws_apigatewayv2_integration.funcao[each.value.nome_funcao].id}"

  authorization_type = each.value.protegida ? "JWT" : "NONE"
  authorizer_id      = each.value.protegida ? aws_apigatewayv2_authorizer.jwt[0].id : null
}

resource "aws_apigatewayv2_authorizer" "jwt" {
  count = var.habilitar_api_http && var.autorizador_jwt != null ? 1 : 0

  api_id           = aws_apigatewayv2_api.esta[0].id
  name             = "jwt"
  authorizer_type  = "JWT"
  identity_sources = ["$request.header.Authorization"]

  jwt_configuration {
    issuer   = var.autorizador_jwt.emissor
    audience = var.autorizador_jwt.publico
  }
}

resource "aws_lambda_permission" "rota" {
  for_each = local.rotas

  statement_id  = "api-${var.nome}-${replace(replace(lower(each.key), "/[^a-z0-9]+/", "-"), "/-$/", "")}"
  action        = "lambda:InvokeFunction"
  function_name = each.value.nome_funcao
  principal     = "apigateway.amazonaws.com"
  # The segment left open is the stage: this API has one, $default.
  source_arn = "${aws_apigatewayv2_api.esta[0].execution_arn}/*/${replace(each.key, " ", "")}"
}

# The vendedlogs prefix keeps the log delivery out of the account's resource policies, which have a size limit:
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/AWS-logs-and-resource-policy.html
resource "aws_cloudwatch_log_group" "acesso" {
  #checkov:skip=CKV_AWS_158:By variable (chave_kms); without it CloudWatch Logs encrypts with its own key. No address, agent or body in it.
  #checkov:skip=CKV_AWS_338:Retention is a variable; see modules/funcao.
  count = var.habilitar_api_http ? 1 : 0

  name              = "/aws/vendedlogs/apis/${var.nome}"
  retention_in_days = var.retencao_logs_dias
  kms_key_id        = var.chave_kms
  tags              = var.tags
}

resource "aws_apigatewayv2_stage" "padrao" {
  count = var.habilitar_api_http ? 1 : 0

  api_id      = aws_apigatewayv2_api.esta[0].id
  name        = "$default"
  auto_deploy = true

  # No source address, no user agent, no body: nothing here identifies a customer.
  access_log_settings {
    destination_arn = aws_cloudwatch_log_group.acesso[0].arn
    format = jsonencode({
      requestId       = "$context.requestId"
      em              = "$context.requestTime"
      rota            = "$context.routeKey"
      status          = "$context.status"
      latenciaMs      = "$context.responseLatency"
      latenciaFuncao  = "$context.integrationLatency"
      erroIntegracao  = "$context.integrationErrorMessage"
      tamanhoResposta = "$context.responseLength"
    })
  }

  default_route_settings {
    throttling_burst_limit = var.limite_requisicoes.rajada
    throttling_rate_limit  = var.limite_requisicoes.por_segundo
  }

  tags = var.tags

  # A stage deployed before its routes would answer 404 for a moment.
  depends_on = [aws_apigatewayv2_route.rota]
}
