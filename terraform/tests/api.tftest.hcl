# Module api: routes, throttling, access log, and a URL that is right on AWS and on an endpoint without hosts for APIs.

mock_provider "aws" {
  mock_resource "aws_apigatewayv2_api" {
    defaults = {
      id            = "api123"
      api_endpoint  = "https://api123.execute-api.sa-east-1.amazonaws.com"
      execution_arn = "arn:aws:execute-api:sa-east-1:123456789012:api123"
    }
  }
  mock_resource "aws_cloudwatch_log_group" {
    defaults = { arn = "arn:aws:logs:sa-east-1:123456789012:log-group:simulado" }
  }
}

variables {
  nome               = "cesta-pedidos"
  retencao_logs_dias = 30
  rotas = {
    "POST /pedidos"           = { nome_funcao = "cesta-criar-pedido", arn_invocacao = "arn:aws:apigateway:sa-east-1:lambda:path/criar" }
    "GET /pedidos/{pedidoId}" = { nome_funcao = "cesta-consultar-pedido", arn_invocacao = "arn:aws:apigateway:sa-east-1:lambda:path/consultar" }
    "GET /pedidos"            = { nome_funcao = "cesta-consultar-pedido", arn_invocacao = "arn:aws:apigateway:sa-east-1:lambda:path/consultar" }
  }
}

run "na_aws" {
  command = apply

  module {
    source = "./modules/api"
  }

  assert {
    condition     = output.url == "https://api123.execute-api.sa-east-1.amazonaws.com"
    error_message = "On AWS the URL is the API's own endpoint."
  }
  assert {
    condition     = toset([for r in aws_apigatewayv2_route.rota : r.route_key]) == toset(["POST /pedidos", "GET /pedidos/{pedidoId}", "GET /pedidos"])
    error_message = "Every route is made, and no other."
  }
  assert {
    condition     = length(aws_apigatewayv2_integration.funcao) == 2
    error_message = "Two routes of one function share its integration."
  }
  assert {
    condition     = aws_lambda_permission.rota["GET /pedidos/{pedidoId}"].source_arn == "arn:aws:execute-api:sa-east-1:123456789012:api123/*/GET/pedidos/{pedidoId}"
    error_message = "A function is invoked by its own routes only."
  }
  assert {
    condition     = length(distinct([for p in aws_lambda_permission.rota : p.statement_id])) == 3
    error_message = "Each permission has a statement id of its own."
  }
  assert {
    condition = (
      aws_apigatewayv2_stage.padrao[0].default_route_settings[0].throttling_rate_limit > 0
      && aws_apigatewayv2_stage.padrao[0].default_route_settings[0].throttling_burst_limit > 0
      && aws_apigatewayv2_stage.padrao[0].access_log_settings[0].destination_arn == "arn:aws:logs:sa-east-1:123456789012:log-group:simulado"
    )
    error_message = "The stage throttles and writes an access log."
  }
  assert {
    condition     = !can(regex("sourceIp|userAgent|identity", aws_apigatewayv2_stage.padrao[0].access_log_settings[0].format))
    error_message = "The access log has nothing that identifies a customer."
  }
}

run "sem_host_proprio" {
  command = apply

  module {
    source = "./modules/api"
  }

  variables {
    prefixo_url = "http://127.0.0.1:4566/_aws/execute-api"
  }

  assert {
    condition     = output.url == "http://127.0.0.1:4566/_aws/execute-api/api123/$default"
    error_message = "With a prefix the URL is <prefix>/<api id>/$default."
  }
}

run "rota_sem_metodo" {
  command = plan

  module {
    source = "./modules/api"
  }

  variables {
    rotas = { "/pedidos" = { nome_funcao = "cesta-criar-pedido", arn_invocacao = "arn:aws:apigateway:sa-east-1:lambda:path/criar" } }
  }

  expect_failures = [var.rotas]
}

run "sem_api_http_de_uma_funcao" {
  command = apply

  module {
    source = "./modules/api"
  }

  variables {
    habilitar_api_http = false
    prefixo_url_funcao = "http://127.0.0.1:4666/_cesta/funcao"
    rotas = {
      "GET /a" = { nome_funcao = "cesta-gateway-simulado", arn_invocacao = "arn:aws:apigateway:sa-east-1:lambda:path/gateway" }
      "GET /b" = { nome_funcao = "cesta-gateway-simulado", arn_invocacao = "arn:aws:apigateway:sa-east-1:lambda:path/gateway" }
    }
  }

  assert {
    condition     = output.url == "http://127.0.0.1:4666/_cesta/funcao/cesta-gateway-simulado"
    error_message = "Without an HTTP API, the address is the only function's own URL, by path where hosts do not resolve."
  }
  assert {
    condition     = length(aws_apigatewayv2_api.esta) + length(aws_apigatewayv2_stage.padrao) + length(aws_apigatewayv2_route.rota) + length(aws_apigatewayv2_integration.funcao) + length(aws_lambda_permission.rota) == 0
    error_message = "Nothing of the HTTP API is made where there is none."
  }
}

run "sem_api_http_de_varias_funcoes" {
  command = apply

  module {
    source = "./modules/api"
  }

  variables {
    habilitar_api_http = false
    prefixo_url_funcao = "http://127.0.0.1:4666/_cesta/funcao"
  }

  assert {
    condition     = output.url == null
    error_message = "Routes of several functions have no common address without an HTTP API."
  }
  assert {
    condition = output.url_da_rota == {
      "POST /pedidos"           = "http://127.0.0.1:4666/_cesta/funcao/cesta-criar-pedido"
      "GET /pedidos/{pedidoId}" = "http://127.0.0.1:4666/_cesta/funcao/cesta-consultar-pedido"
      "GET /pedidos"            = "http://127.0.0.1:4666/_cesta/funcao/cesta-consultar-pedido"
    }
    error_message = "Each route is reached at its own function."
  }
}
