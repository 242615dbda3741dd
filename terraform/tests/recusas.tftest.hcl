# What the root refuses before it touches anything. One plan serves several refusals: each one listed has to fail.

mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws" }
  }
}

variables {
  ambiente         = "producao"
  arquivo_artefato = "tests/dados/artefato.zip"
  url_gateway      = "https://gateway.example.com"
  chave_gateway    = "chave-de-teste"
  destinos_alertas = ["plantao@example.com"]
}

# The same variables are accepted: each refusal below is due to the ones it changes.
run "producao_aceita" {
  command = plan
}

run "producao_sem_dubles_nem_falhas_injetadas" {
  command = plan
  variables {
    url_gateway                = null
    habilitar_gateway_simulado = true
    habilitar_desenho_minimo   = true
    permitir_injecao_falhas    = true
    exigir_tls                 = false
  }
  expect_failures = [
    var.habilitar_gateway_simulado, var.habilitar_desenho_minimo, var.permitir_injecao_falhas, var.exigir_tls,
  ]
}

run "gateway_real_com_tls_e_chave" {
  command = plan
  variables {
    url_gateway   = "http://gateway.example.com"
    chave_gateway = null
  }
  expect_failures = [var.url_gateway, var.chave_gateway]
}

run "sem_gateway_artefato_ou_runtime" {
  command = plan
  variables {
    url_gateway      = null
    arquivo_artefato = "tests/dados/inexistente.zip"
    runtime          = "python3.10"
  }
  expect_failures = [var.url_gateway, var.arquivo_artefato, var.runtime]
}

run "dois_gateways" {
  command = plan
  variables {
    ambiente                   = "homologacao"
    habilitar_gateway_simulado = true
  }
  expect_failures = [var.url_gateway]
}

run "limites_e_chaves_que_nao_existem" {
  command = plan
  variables {
    chave_kms            = "alias/cesta"
    rastreamento         = null
    limites_concorrencia = { FuncaoInexistente = 5 }
    limite_requisicoes   = { por_segundo = 0, rajada = 10 }
    autorizador_jwt      = { emissor = "http://identidade.example.com", publico = ["loja"] }
  }
  expect_failures = [
    var.chave_kms, var.rastreamento, var.limites_concorrencia, var.limite_requisicoes, var.autorizador_jwt,
  ]
}

run "limites_que_desligam_e_chave_anterior_por_apelido" {
  command = plan
  variables {
    chaves_kms_anteriores = ["alias/antes"]
    limites_concorrencia  = { CobrarPagamento = 0 }
    limite_requisicoes    = { por_segundo = 10, rajada = 0 }
    autorizador_jwt       = { emissor = "https://identidade.example.com", publico = [] }
  }
  expect_failures = [var.chaves_kms_anteriores, var.limites_concorrencia, var.limite_requisicoes, var.autorizador_jwt]
}

run "regiao_arquitetura_retencao_e_a_chave_de_agora_como_anterior" {
  command = plan
  variables {
    chave_kms             = "arn:aws:kms:sa-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
    chaves_kms_anteriores = ["arn:aws:kms:sa-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"]
    regiao                = "brasil"
    arquitetura           = "mips"
    retencao_logs_dias    = 31
  }
  expect_failures = [var.chaves_kms_anteriores, var.regiao, var.arquitetura, var.retencao_logs_dias]
}

run "producao_sem_quem_avisar" {
  command = plan
  variables {
    destinos_alertas = []
  }
  expect_failures = [var.destinos_alertas]
}

run "so_producao_precisa_de_quem_avisar" {
  command = plan
  variables {
    ambiente         = "homologacao"
    destinos_alertas = []
  }
}

run "destinos_que_nao_sao_enderecos" {
  command = plan
  variables {
    destinos_alertas   = ["https://example.com/avisos"]
    destinos_reposicao = ["estoque@example.com, loja@example.com"]
  }
  expect_failures = [var.destinos_alertas, var.destinos_reposicao]
}

run "destinos_repetidos" {
  command = plan
  variables {
    destinos_alertas   = ["plantao@example.com", "Plantao@example.com"]
    destinos_reposicao = ["estoque@example.com", "estoque@example.com"]
  }
  expect_failures = [var.destinos_alertas, var.destinos_reposicao]
}
