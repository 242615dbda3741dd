# What the root refuses before it touches anything.

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
}

# The same variables are accepted: each refusal below is due to the one it changes.
run "producao_aceita" {
  command = plan
}

run "gateway_simulado_em_producao" {
  command = plan
  variables {
    url_gateway                = null
    habilitar_gateway_simulado = true
  }
  expect_failures = [var.habilitar_gateway_simulado]
}

run "desenho_minimo_em_producao" {
  command = plan
  variables {
    habilitar_desenho_minimo = true
  }
  expect_failures = [var.habilitar_desenho_minimo]
}

run "injecao_de_falhas_em_producao" {
  command = plan
  variables {
    permitir_injecao_falhas = true
  }
  expect_failures = [var.permitir_injecao_falhas]
}

run "sem_tls_em_producao" {
  command = plan
  variables {
    exigir_tls = false
  }
  expect_failures = [var.exigir_tls]
}

run "sem_gateway" {
  command = plan
  variables {
    url_gateway = null
  }
  expect_failures = [var.url_gateway]
}

run "dois_gateways" {
  command = plan
  variables {
    ambiente                   = "homologacao"
    habilitar_gateway_simulado = true
  }
  expect_failures = [var.url_gateway]
}

run "gateway_sem_tls" {
  command = plan
  variables {
    url_gateway = "http://gateway.example.com"
  }
  expect_failures = [var.url_gateway]
}

run "gateway_sem_chave" {
  command = plan
  variables {
    chave_gateway = null
  }
  expect_failures = [var.chave_gateway]
}

run "artefato_ausente" {
  command = plan
  variables {
    arquivo_artefato = "tests/dados/inexistente.zip"
  }
  expect_failures = [var.arquivo_artefato]
}

run "runtime_vencido" {
  command = plan
  variables {
    runtime = "python3.10"
  }
  expect_failures = [var.runtime]
}
