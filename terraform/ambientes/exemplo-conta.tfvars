# A starting point for an account. Copy it, give url_gateway, and pass the key as TF_VAR_chave_gateway.
ambiente = "homologacao"
regiao   = "sa-east-1"

# To try the system without a gateway, leave this true; for a real one, set it to false and give url_gateway.
habilitar_gateway_simulado = true
# url_gateway = "https://gateway.example.com"

# Who gets an e-mail from every alarm, and who restocks the stores: a team's mailbox, that outlives people. Each address
# confirms by the message AWS sends it; producao is refused without destinos_alertas.
# destinos_alertas   = ["plantao@example.com"]
# destinos_reposicao = ["estoque@example.com"]

# The proofs need both, and the stand-in: docs/deploy.md. Never in producao.
habilitar_desenho_minimo = false
permitir_injecao_falhas  = false

# A new definition of the saga takes 10 of 100 new orders first; docs/deploy.md says how to go on and how to go back.
# liberacao_saga = { percentual = 10, versao_anterior = 1 }

# X-Ray traces of functions and state machines, for a while: it costs per trace and in permissions.
# rastreamento = true
