# The panel's HTTP API and page, and who may enter.

locals {
  rotas_abertas = ["GET /painel", "GET /painel/pagina.css", "GET /painel/pagina.js", "GET /painel/configuracao"]
  rotas_protegidas = [
    "GET /painel/lojas/{loja}/pedidos",
    "GET /painel/lojas/{loja}/mudancas",
    "GET /painel/lojas/{loja}/reposicoes",
    "GET /painel/lojas/{loja}/pedidos/{pedidoId}",
    "PUT /painel/lojas/{loja}/pedidos/{pedidoId}/reposicoes/{ordem}",
  ]
  url_login = !var.habilitar_login ? "" : "https://${aws_cognito_user_pool_domain.painel[0].domain}.auth.${var.contexto.regiao}.amazoncognito.com"
}

module "api" {
  source = "../api"

  nome               = "cadencia-painel"
  prefixo_url        = var.prefixo_url_api
  habilitar_api_http = var.contexto.habilitar_api_http
  prefixo_url_funcao = var.contexto.prefixo_url_funcao
  retencao_logs_dias = var.contexto.retencao_logs_dias
  chave_kms          = var.contexto.chave_kms
  limite_requisicoes = var.limite_requisicoes

  autorizador_jwt = !var.habilitar_login ? null : {
    emissor = "https://cognito-idp.${var.contexto.regiao}.amazonaws.com/${aws_cognito_user_pool.painel[0].id}"
    publico = [aws_cognito_user_pool_client.painel[0].id]
  }

  # The page, its files and where to sign in hold nothing of any order: they are what an unsigned browser needs.
  rotas = merge(
    { for rota in local.rotas_abertas : rota => {
      nome_funcao = module.api_funcao.nome, arn_invocacao = module.api_funcao.arn_invocacao, protegida = false
    } },
    { for rota in local.rotas_protegidas : rota => {
      nome_funcao = module.api_funcao.nome, arn_invocacao = module.api_funcao.arn_invocacao, protegida = var.habilitar_login
    } },
  )
}

resource "aws_cognito_user_pool" "painel" {
  count = var.habilitar_login ? 1 : 0

  name                = "cadencia-painel"
  deletion_protection = var.contexto.ambiente == "producao" ? "ACTIVE" : "INACTIVE"

  admin_create_user_config {
    allow_admin_create_user_only = true
  }

  password_policy {
    minimum_length                   = 12
    require_lowercase                = true
    require_uppercase                = true
    require_numbers                  = true
    require_symbols                  = false
    temporary_password_validity_days = 3
  }

  # The stores a person may see, separated by commas, or "*".
  schema {
    name                = "lojas"
    attribute_data_type = "String"
    mutable             = true
    string_attribute_constraints {
      min_length = 1
      max_length = 256
    }
  }
}

resource "aws_cognito_user_pool_client" "painel" {
  count = var.habilitar_login ? 1 : 0

  name         = "pagina"
  user_pool_id = aws_cognito_user_pool.painel[0].id

  # A browser cannot keep a secret: authorization code with PKCE.
  generate_secret                      = false
  allowed_oauth_flows_user_pool_client = true
  allowed_oauth_flows                  = ["code"]
  allowed_oauth_scopes                 = ["openid"]
  supported_identity_providers         = ["COGNITO"]
  callback_urls                        = ["${module.api.endpoint}/painel"]
  logout_urls                          = ["${module.api.endpoint}/painel"]

  # Nobody edits their own stores. An empty list is no list (https://github.com/hashicorp/terraform-provider-aws/issues/28684),
  # and a client without one may write its users' attributes, custom ones by report
  # (https://github.com/aws/aws-cdk/issues/21835): so it names one that nothing here reads.
  read_attributes  = ["custom:lojas"]
  write_attributes = ["nickname"]

  # Sign-in is by the hosted page alone. A token made by the API's own flows (SRP is on when nothing is said) carries
  # aws.cognito.signin.user.admin, the scope that changes attributes.
  explicit_auth_flows = ["ALLOW_REFRESH_TOKEN_AUTH"]

  id_token_validity = 60
  token_validity_units {
    id_token = "minutes"
  }
}

resource "aws_cognito_user_pool_domain" "painel" {
  count = var.habilitar_login ? 1 : 0

  domain       = "cadencia-painel-${var.contexto.ambiente}-${var.contexto.conta}"
  user_pool_id = aws_cognito_user_pool.painel[0].id
}
