# LocalStack, the second engine: everything that differs from an account is here.
ambiente = "localstack"
regiao   = "sa-east-1"

# The artifact carries a bootstrap that starts AWS's own runtime client on this machine's Python.
runtime     = "provided.al2023"
arquitetura = "x86_64"

s3_estilo_caminho = true
exigir_tls        = false # the engine speaks plain HTTP

# There is no HTTP API there: an API of one function is reached at that function's URL, and orders enter by the queue.
# deploy passes the engine's address as prefixo_url_funcao.
habilitar_api_http = false

habilitar_gateway_simulado = true
habilitar_desenho_minimo   = true
permitir_injecao_falhas    = true

retencao_logs_dias = 1

rastreamento = null # the engine forgets a machine's setting, and each plan would differ

# No sign-in service here, and no steady traffic to miss.
painel = {
  habilitar_login          = false
  alarme_consumidor_parado = false
  stream_por_curinga       = true
}

# The engine has no steady schedule to miss: it starts and stops with a session of work.
conferencias = {
  alarme_conferencia_parada = false
}

# Permissions are not checked there, so an alias would prove nothing more than the machine does.
maquina_por_apelido = false
