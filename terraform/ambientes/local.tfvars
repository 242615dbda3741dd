# The local engine: everything that differs from an account is here.
ambiente = "local"
regiao   = "sa-east-1"

# The artifact carries a bootstrap that starts AWS's own runtime client on this machine's Python.
runtime     = "provided.al2023"
arquitetura = "x86_64"

s3_estilo_caminho = true
exigir_tls        = false # the engine speaks plain HTTP
prefixo_url_api   = "http://127.0.0.1:4566/_aws/execute-api"

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

# Two cores: the consumer keeps a pace that leaves the API its own.
concorrencia_consumidor_fila = 2

# The engine has no steady schedule to miss: it starts and stops with a session of work.
conferencias = {
  alarme_conferencia_parada = false
}

# Waits between retries are ten times shorter on this engine; an open circuit waits as much less.
disjuntor_gateway = { aberto_s = 5 }

# The engine checks a start by an alias against the alias's ARN, not the machine's, and runs the latest definition.
maquina_por_apelido = false
