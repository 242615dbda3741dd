# The designs the labs start from, and the gateway stand-in. Each is deployed only when its variable says so.

# --- gateway stand-in ----------------------------------------------------------------------------------------------

resource "aws_dynamodb_table" "gateway" {
  #checkov:skip=CKV_AWS_119:By variable (chave_kms); without it DynamoDB encrypts with its own key.
  #checkov:skip=CKV_AWS_28:A stand-in of the gateway, never in production: nothing to recover.
  count = var.habilitar_gateway_simulado ? 1 : 0

  name         = "cesta-gateway-simulado"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "pk"
  range_key    = "sk"

  attribute {
    name = "pk"
    type = "S"
  }
  attribute {
    name = "sk"
    type = "S"
  }

  server_side_encryption {
    enabled     = var.contexto.chave_kms != null
    kms_key_arn = var.contexto.chave_kms
  }
}

# The stand-in's key is made here and stays out of the plan and the state: the argument is write-only, and a new value is
# written only when the version changes.
resource "aws_ssm_parameter" "chave_gateway" {
  #checkov:skip=CKV_AWS_337:By variable (chave_kms). A stand-in key, made up at deploy: it opens nothing.
  count = var.habilitar_gateway_simulado ? 1 : 0

  name             = "/cesta/gateway-simulado/chave"
  description      = "API key the gateway stand-in expects."
  type             = "SecureString"
  key_id           = coalesce(var.contexto.chave_kms, "alias/aws/ssm")
  value_wo         = uuid()
  value_wo_version = 1 + var.contexto.versao_por_chave
}

module "gateway_simulado" {
  source = "../funcao"
  count  = var.habilitar_gateway_simulado ? 1 : 0

  id_logico          = "GatewaySimulado"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas

  ambiente_variaveis = {
    TABELA_GATEWAY          = aws_dynamodb_table.gateway[0].name
    PARAMETRO_CHAVE_GATEWAY = aws_ssm_parameter.chave_gateway[0].name
    ATRASO_LENTO_S          = tostring(var.atraso_lento_s)
    ATRASO_PADRAO_MS        = tostring(var.atraso_padrao_ms)
  }

  permissoes = [
    {
      sid = "GuardarMovimentos"
      acoes = [
        "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem",
      ]
      recursos = [aws_dynamodb_table.gateway[0].arn]
    },
    {
      sid      = "LerChaveEsperada"
      acoes    = ["ssm:GetParameter"]
      recursos = [aws_ssm_parameter.chave_gateway[0].arn]
    },
  ]
}

module "api_gateway_simulado" {
  source = "../api"
  count  = var.habilitar_gateway_simulado ? 1 : 0

  nome               = "cesta-gateway-simulado"
  prefixo_url        = var.prefixo_url_api
  habilitar_api_http = var.contexto.habilitar_api_http
  prefixo_url_funcao = var.contexto.prefixo_url_funcao
  retencao_logs_dias = var.contexto.retencao_logs_dias
  chave_kms          = var.contexto.chave_kms

  rotas = {
    for rota in [
      "POST /cobrancas", "GET /cobrancas/{token}", "POST /estornos",
      "GET /movimentos", "GET /modo", "PUT /modo", "GET /saude",
    ] :
    rota => {
      nome_funcao   = module.gateway_simulado[0].nome
      arn_invocacao = module.gateway_simulado[0].arn_invocacao
    }
  }
}

# --- synchronous design --------------------------------------------------------------------------------------------

module "criar_pedido_sincrono" {
  source = "../funcao"
  count  = var.habilitar_desenho_minimo ? 1 : 0

  id_logico          = "CriarPedidoSincrono"
  contexto           = var.contexto
  servico            = "cesta"
  arn_topico_alertas = var.arn_topico_alertas

  ambiente_variaveis = {
    TABELA_PEDIDOS            = var.sincrono.tabela_pedidos
    TABELA_ESTOQUE            = var.sincrono.tabela_estoque
    URL_GATEWAY               = var.sincrono.url_gateway
    PARAMETRO_CHAVE_GATEWAY   = var.sincrono.nome_parametro
    TIMEOUT_CONEXAO_GATEWAY_S = tostring(var.sincrono.timeout_conexao_s)
    TIMEOUT_TOTAL_GATEWAY_S   = tostring(var.sincrono.timeout_total_s)
    PERMITIR_INJECAO_FALHAS   = tostring(var.permitir_injecao_falhas)
  }

  # Two services' tables in one role: that is the defect this design shows.
  permissoes = [
    {
      sid      = "Reservar"
      acoes    = ["dynamodb:UpdateItem"]
      recursos = [var.sincrono.arn_tabela_estoque]
    },
    {
      sid      = "GravarPedido"
      acoes    = ["dynamodb:PutItem"]
      recursos = [var.sincrono.arn_tabela_pedidos]
    },
    {
      sid      = "LerChaveDoGateway"
      acoes    = ["ssm:GetParameter"]
      recursos = [var.sincrono.arn_parametro]
    },
  ]
}
