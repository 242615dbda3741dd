# A starting point for an account. Copy it, give url_gateway, and pass the key as TF_VAR_chave_gateway.
ambiente = "homologacao"
regiao   = "sa-east-1"

# To try the system without a gateway, leave this true; for a real one, set it to false and give url_gateway.
habilitar_gateway_simulado = true
# url_gateway = "https://gateway.example.com"

habilitar_desenho_minimo = false
permitir_injecao_falhas  = false
