# Module funcao: everything template.yaml says reaches the function, and nothing reaches it that its caller did not say.

mock_provider "aws" {
  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/simulado" }
  }
}

variables {
  contexto = {
    arquivo_modelo     = "tests/dados/modelo.yaml"
    artefato           = { bucket = "cesta-artefatos", chave = "funcoes/abc.zip", hash = "abc=" }
    runtime            = "python3.13"
    arquitetura        = "arm64"
    ambiente           = "teste"
    particao           = "aws"
    regiao             = "sa-east-1"
    conta              = "123456789012"
    nivel_log          = "WARNING"
    retencao_logs_dias = 14
  }
  id_logico          = "Completa"
  servico            = "painel"
  arn_topico_alertas = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas"
  ambiente_variaveis = { TABELA = "x" }
  permissoes = [
    {
      sid      = "LerComCondicao"
      acoes    = ["dynamodb:Query", "dynamodb:GetItem"]
      recursos = ["arn:aws:dynamodb:sa-east-1:123456789012:table/x"]
      condicoes = [
        { teste = "StringEquals", chave = "aws:RequestedRegion", valores = ["sa-east-1"] },
        { teste = "StringEquals", chave = "aws:SourceAccount", valores = ["123456789012"] },
      ]
    },
  ]
}

run "valores_exatos" {
  command = apply

  module {
    source = "./modules/funcao"
  }

  assert {
    condition = (
      aws_lambda_function.esta.function_name == "cesta-completa"
      && aws_lambda_function.esta.handler == "contexto.completa.handler"
      && aws_lambda_function.esta.timeout == 17
      && aws_lambda_function.esta.memory_size == 384
    )
    error_message = "Name, handler, timeout and memory come from template.yaml."
  }

  assert {
    condition = (
      aws_lambda_function.esta.runtime == "python3.13"
      && aws_lambda_function.esta.architectures == tolist(["arm64"])
      && aws_lambda_function.esta.s3_bucket == "cesta-artefatos"
      && aws_lambda_function.esta.s3_key == "funcoes/abc.zip"
      && aws_lambda_function.esta.source_code_hash == "abc="
      && aws_lambda_function.esta.reserved_concurrent_executions == null
    )
    error_message = "Runtime, architecture and artifact come from the context; concurrency is not reserved unless asked."
  }

  assert {
    condition = aws_lambda_function.esta.environment[0].variables == tomap({
      AMBIENTE                     = "teste"
      LOG_LEVEL                    = "WARNING"
      POWERTOOLS_SERVICE_NAME      = "painel"
      POWERTOOLS_METRICS_NAMESPACE = "Cadencia"
      RASTREAMENTO_ATIVO           = "false"
      TABELA                       = "x"
    })
    error_message = "The environment is what every function has plus what the caller gives."
  }

  assert {
    condition     = one(aws_lambda_function.esta.tracing_config).mode == "PassThrough"
    error_message = "Nothing is traced unless asked; said, because a function that was traced stays so otherwise."
  }

  assert {
    condition = (
      aws_cloudwatch_log_group.esta.name == "/aws/lambda/cesta-completa"
      && aws_cloudwatch_log_group.esta.retention_in_days == 14
    )
    error_message = "The log group is declared, so that destroy takes it away."
  }

  assert {
    condition = jsondecode(aws_iam_role.esta.assume_role_policy).Statement == [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
      Condition = { StringEquals = { "aws:SourceAccount" = "123456789012" } }
    }]
    error_message = "Only Lambda, and only for this account, assumes the role."
  }

  assert {
    condition = jsondecode(aws_iam_role_policy.esta.policy).Statement == [
      {
        Sid      = "EscreverOProprioLog"
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = ["arn:aws:logs:sa-east-1:123456789012:log-group:/aws/lambda/cesta-completa:*"]
      },
      {
        Sid      = "LerComCondicao"
        Effect   = "Allow"
        Action   = ["dynamodb:GetItem", "dynamodb:Query"]
        Resource = ["arn:aws:dynamodb:sa-east-1:123456789012:table/x"]
        Condition = {
          StringEquals = {
            "aws:RequestedRegion" = ["sa-east-1"]
            "aws:SourceAccount"   = ["123456789012"]
          }
        }
      },
    ]
    error_message = "The policy is the function's own log plus what the caller lists, and nothing else."
  }

  assert {
    condition = (
      aws_cloudwatch_metric_alarm.erros.namespace == "AWS/Lambda"
      && aws_cloudwatch_metric_alarm.erros.metric_name == "Errors"
      && aws_cloudwatch_metric_alarm.erros.dimensions == tomap({ FunctionName = "cesta-completa" })
      && aws_cloudwatch_metric_alarm.erros.statistic == "Sum"
      && aws_cloudwatch_metric_alarm.erros.threshold == 0
      && aws_cloudwatch_metric_alarm.erros.alarm_actions == toset(["arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas"])
    )
    error_message = "Every function has an alarm on its errors that notifies the topic."
  }
}

run "com_rastreamento" {
  command = apply

  module {
    source = "./modules/funcao"
  }

  variables {
    contexto = {
      arquivo_modelo     = "tests/dados/modelo.yaml"
      artefato           = { bucket = "cesta-artefatos", chave = "funcoes/abc.zip", hash = "abc=" }
      runtime            = "python3.13"
      arquitetura        = "arm64"
      ambiente           = "teste"
      particao           = "aws"
      regiao             = "sa-east-1"
      conta              = "123456789012"
      nivel_log          = "WARNING"
      retencao_logs_dias = 14
      rastreamento       = true
    }
  }

  assert {
    condition = (
      one(aws_lambda_function.esta.tracing_config).mode == "Active"
      && aws_lambda_function.esta.environment[0].variables.RASTREAMENTO_ATIVO == "true"
    )
    error_message = "With rastreamento, Lambda traces the function and the function loads its tracer."
  }

  assert {
    condition = jsondecode(aws_iam_role_policy.esta.policy).Statement[1] == {
      Sid      = "EnviarRastro"
      Effect   = "Allow"
      Action   = ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]
      Resource = ["*"]
    }
    error_message = "With rastreamento, the role may send traces and read none."
  }
}

run "valores_globais" {
  command = plan

  module {
    source = "./modules/funcao"
  }

  variables {
    id_logico = "Minima"
  }

  assert {
    condition     = aws_lambda_function.esta.timeout == 5 && aws_lambda_function.esta.memory_size == 256
    error_message = "What a function does not say comes from the template's Globals."
  }
}

run "acao_com_curinga" {
  command = plan

  module {
    source = "./modules/funcao"
  }

  variables {
    permissoes = [{ sid = "Tudo", acoes = ["dynamodb:*"], recursos = ["arn:aws:dynamodb:sa-east-1:123456789012:table/x"] }]
  }

  expect_failures = [var.permissoes]
}

run "recurso_curinga_sem_razao" {
  command = plan

  module {
    source = "./modules/funcao"
  }

  variables {
    permissoes = [{ sid = "Tudo", acoes = ["dynamodb:GetItem"], recursos = ["*"] }]
  }

  expect_failures = [aws_iam_role_policy.esta]
}

run "concorrencia_zero" {
  command = plan

  module {
    source = "./modules/funcao"
  }

  variables {
    concorrencia_reservada = 0
  }

  expect_failures = [var.concorrencia_reservada]
}
