output "gateway" {
  description = "The stand-in's URL and the SSM parameter of its key; null when it is not deployed."
  value = var.habilitar_gateway_simulado ? {
    url            = module.api_gateway_simulado[0].url
    nome_parametro = aws_ssm_parameter.chave_gateway[0].name
    arn_parametro  = aws_ssm_parameter.chave_gateway[0].arn
  } : null
}

output "nome_funcao_sincrono" {
  description = "Name of the synchronous design's function; null when it is not deployed."
  value       = one(module.criar_pedido_sincrono[*].nome)
}

output "funcoes" {
  description = "Deployed functions by logical id: name, ARN, invoke ARN, role name."
  value = merge(
    { for f in module.gateway_simulado : "GatewaySimulado" => { nome = f.nome, arn = f.arn, arn_invocacao = f.arn_invocacao, papel = f.nome_papel } },
    { for f in module.criar_pedido_sincrono : "CriarPedidoSincrono" => { nome = f.nome, arn = f.arn, arn_invocacao = f.arn_invocacao, papel = f.nome_papel } },
  )
}
