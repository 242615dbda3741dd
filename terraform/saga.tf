# Cesta: the order saga, its HTTP edge, who is told when it needs help, and the stand-ins that only a variable deploys.

locals {
  gateway = merge(
    var.habilitar_gateway_simulado ? module.desenhos_minimos.gateway : {
      url            = var.url_gateway
      nome_parametro = one(aws_ssm_parameter.chave_gateway[*].name)
      arn_parametro  = one(aws_ssm_parameter.chave_gateway[*].arn)
    },
    {
      timeout_conexao_s = var.timeouts_gateway.conexao_s
      timeout_total_s   = var.timeouts_gateway.total_s
    },
  )
}

resource "aws_ssm_parameter" "chave_gateway" {
  #checkov:skip=CKV_AWS_337:By variable (chave_kms); without it alias/aws/ssm, read through SSM by the roles that may.
  count = var.habilitar_gateway_simulado ? 0 : 1

  name             = "/cesta/gateway/chave"
  description      = "API key of the payment gateway."
  type             = "SecureString"
  key_id           = coalesce(var.chave_kms, "alias/aws/ssm") # said: left out, the parameter keeps the key it had
  value_wo         = var.chave_gateway
  value_wo_version = var.versao_chave_gateway + local.versao_por_chave
}

module "saga" {
  source = "./modules/saga"

  contexto                = local.contexto
  arn_topico_alertas      = module.observabilidade.arn_topico_alertas
  arquivo_asl             = "${path.root}/../asl/saga-pedido.asl.json"
  arquivo_asl_compensacao = "${path.root}/../asl/compensacao-manual.asl.json"
  gateway                 = local.gateway
  disjuntor               = var.disjuntor_gateway
  limites                 = var.limites_pedido
  permitir_injecao_falhas = var.permitir_injecao_falhas
  maquina_por_apelido     = var.maquina_por_apelido
  liberacao               = var.liberacao_saga
}

module "api" {
  source = "./modules/api"

  nome               = "cesta-pedidos"
  prefixo_url        = var.prefixo_url_api
  habilitar_api_http = var.habilitar_api_http
  prefixo_url_funcao = var.prefixo_url_funcao
  retencao_logs_dias = var.retencao_logs_dias
  chave_kms          = var.chave_kms
  limite_requisicoes = var.limite_requisicoes
  autorizador_jwt    = var.autorizador_jwt

  rotas = {
    "POST /pedidos" = {
      nome_funcao   = module.saga.funcoes["CriarPedido"].nome
      arn_invocacao = module.saga.funcoes["CriarPedido"].arn_invocacao
      protegida     = var.autorizador_jwt != null
    }
    "GET /pedidos/{pedidoId}" = {
      nome_funcao   = module.saga.funcoes["ConsultarPedido"].nome
      arn_invocacao = module.saga.funcoes["ConsultarPedido"].arn_invocacao
      protegida     = var.autorizador_jwt != null
    }
  }
}

module "observabilidade" {
  source = "./modules/observabilidade"

  particao              = local.contexto.particao
  regiao                = local.contexto.regiao
  conta                 = local.contexto.conta
  exigir_tls            = var.exigir_tls
  arn_maquina_saga      = module.saga.arn_maquina_saga
  arn_compensacao       = module.saga.arn_maquina_compensacao
  grupo_log_maquina     = module.saga.grupo_log_maquina
  filas                 = { for chave, fila in module.saga.filas : chave => fila.nome }
  funcoes               = { for id, f in module.saga.funcoes : id => f.arn }
  limiar_duracao_p99_ms = var.limiar_duracao_p99_ms
  chave_kms_alertas     = local.chave_kms_alertas
}

module "desenhos_minimos" {
  source = "./modules/desenhos_minimos"

  contexto                   = local.contexto
  arn_topico_alertas         = module.observabilidade.arn_topico_alertas
  prefixo_url_api            = var.prefixo_url_api
  habilitar_gateway_simulado = var.habilitar_gateway_simulado
  habilitar_desenho_minimo   = var.habilitar_desenho_minimo
  permitir_injecao_falhas    = var.permitir_injecao_falhas
  atraso_lento_s             = var.atraso_lento_s

  sincrono = !var.habilitar_desenho_minimo ? null : {
    tabela_pedidos     = module.saga.tabelas.pedidos.nome
    arn_tabela_pedidos = module.saga.tabelas.pedidos.arn
    tabela_estoque     = module.saga.tabelas.estoque.nome
    arn_tabela_estoque = module.saga.tabelas.estoque.arn
    url_gateway        = local.gateway.url
    nome_parametro     = local.gateway.nome_parametro
    arn_parametro      = local.gateway.arn_parametro
    timeout_conexao_s  = local.gateway.timeout_conexao_s
    timeout_total_s    = local.gateway.timeout_total_s
  }
}
