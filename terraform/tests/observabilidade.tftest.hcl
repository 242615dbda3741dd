# Who is told, and when: the topic, every alarm of the saga and the dashboard's questions.

mock_provider "aws" {
  mock_resource "aws_sns_topic" {
    defaults = { arn = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas" }
  }
  mock_resource "aws_sns_topic_policy" {
    defaults = { arn = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas" }
  }
}

variables {
  particao          = "aws"
  regiao            = "sa-east-1"
  conta             = "123456789012"
  arn_maquina_saga  = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido"
  arn_compensacao   = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-compensacao-manual"
  grupo_log_maquina = "/aws/vendedlogs/states/cesta-saga-pedido"
  filas = {
    pedidos_criados     = "cesta-pedidos-criados"
    pedidos_criados_dlq = "cesta-pedidos-criados-dlq"
    compensacao_falhou  = "cesta-compensacao-falhou"
  }
  funcoes = {
    LiberarEstoque    = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-liberar-estoque"
    EstornarPagamento = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-estornar-pagamento"
  }
}

run "valores_exatos" {
  command = apply

  module {
    source = "./modules/observabilidade"
  }

  assert {
    condition     = aws_sns_topic.alertas.name == "cesta-saga-alertas"
    error_message = "The alarms notify cesta-saga-alertas."
  }

  assert {
    condition     = aws_sns_topic.alertas.kms_master_key_id == null
    error_message = "Without a customer managed key the topic has no KMS: CloudWatch cannot publish through alias/aws/sns."
  }

  assert {
    condition = [for s in jsondecode(aws_sns_topic_policy.alertas.policy).Statement : s if s.Effect == "Allow"] == [{
      Sid       = "AlarmesDestaConta"
      Effect    = "Allow"
      Principal = { Service = "cloudwatch.amazonaws.com" }
      Action    = "sns:Publish"
      Resource  = "arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas"
      Condition = {
        ArnLike      = { "aws:SourceArn" = "arn:aws:cloudwatch:sa-east-1:123456789012:alarm:*" }
        StringEquals = { "aws:SourceAccount" = "123456789012" }
      }
    }]
    error_message = "Only this account's alarms publish."
  }

  assert {
    condition = length([
      for s in jsondecode(aws_sns_topic_policy.alertas.policy).Statement : s
      if s.Effect == "Deny" && try(s.Condition.Bool["aws:SecureTransport"] == "false", false)
    ]) == 1
    error_message = "The topic refuses what is published without TLS."
  }

  assert {
    condition = (
      aws_cloudwatch_metric_alarm.compensacao_pendente.alarm_name == "cesta-saga-compensacao-pendente"
      && aws_cloudwatch_metric_alarm.compensacao_pendente.namespace == "AWS/SQS"
      && aws_cloudwatch_metric_alarm.compensacao_pendente.metric_name == "ApproximateNumberOfMessagesVisible"
      && aws_cloudwatch_metric_alarm.compensacao_pendente.dimensions == tomap({ QueueName = "cesta-compensacao-falhou" })
      && aws_cloudwatch_metric_alarm.compensacao_pendente.statistic == "Maximum"
      && aws_cloudwatch_metric_alarm.compensacao_pendente.period == 300
      && aws_cloudwatch_metric_alarm.compensacao_pendente.evaluation_periods == 1
      && aws_cloudwatch_metric_alarm.compensacao_pendente.comparison_operator == "GreaterThanThreshold"
      && aws_cloudwatch_metric_alarm.compensacao_pendente.threshold == 0
      && aws_cloudwatch_metric_alarm.compensacao_pendente.treat_missing_data == "notBreaching"
      && aws_cloudwatch_metric_alarm.compensacao_pendente.alarm_actions == toset(["arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas"])
    )
    error_message = "cesta-saga-compensacao-pendente: human queue, Maximum, 300 s x 1, > 0, notBreaching, to the topic."
  }

  assert {
    condition = (
      aws_cloudwatch_metric_alarm.entrada_dlq.metric_name == "ApproximateNumberOfMessagesVisible"
      && aws_cloudwatch_metric_alarm.entrada_dlq.dimensions == tomap({ QueueName = "cesta-pedidos-criados-dlq" })
      && aws_cloudwatch_metric_alarm.entrada_dlq.threshold == 0
      && aws_cloudwatch_metric_alarm.entrada_dlq.statistic == "Maximum"
    )
    error_message = "Any message in the input DLQ fires its alarm (never NumberOfMessagesSent: a redrive does not count there)."
  }

  assert {
    condition = (
      { for a in aws_cloudwatch_metric_alarm.maquina : a.metric_name => a.threshold }
      == { ExecutionsFailed = 0, ExecutionsTimedOut = 0, ExecutionsAborted = 0 }
      && alltrue([for a in aws_cloudwatch_metric_alarm.maquina : a.namespace == "AWS/States" && a.statistic == "Sum"])
      && alltrue([for a in aws_cloudwatch_metric_alarm.maquina : a.dimensions == tomap({ StateMachineArn = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido" })])
    )
    error_message = "One failed, timed out or aborted execution fires an alarm."
  }

  assert {
    condition = (
      { for nome, a in aws_cloudwatch_metric_alarm.compensacao_manual : nome => [a.metric_name, a.namespace, a.statistic, tostring(a.threshold)] }
      == {
        cesta-compensacao-manual-falhas    = ["ExecutionsFailed", "AWS/States", "Sum", "0"]
        cesta-compensacao-manual-abortadas = ["ExecutionsAborted", "AWS/States", "Sum", "0"]
      }
      && alltrue([for a in aws_cloudwatch_metric_alarm.compensacao_manual : a.dimensions == tomap({ StateMachineArn = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-compensacao-manual" })])
    )
    error_message = "One failed or aborted manual compensation fires its own alarm."
  }

  assert {
    condition = (
      { for a in aws_cloudwatch_metric_alarm.disjuntor : a.alarm_name => a.dimensions } == {
        for operacao in ["cobrar", "estornar", "consultar"] :
        "cesta-gateway-disjuntor-${operacao}" => tomap({ service = "cesta", operacao = operacao })
      }
      && alltrue([
        for a in aws_cloudwatch_metric_alarm.disjuntor :
        a.namespace == "Cesta" && a.metric_name == "DisjuntorAberto" && a.statistic == "Sum" && a.threshold == 0
      ])
    )
    error_message = "An open circuit fires the alarm of its operation."
  }

  assert {
    condition = (
      aws_cloudwatch_metric_alarm.duracao_p99.metric_name == "ExecutionTime"
      && aws_cloudwatch_metric_alarm.duracao_p99.extended_statistic == "p99"
      && aws_cloudwatch_metric_alarm.duracao_p99.evaluate_low_sample_count_percentiles == "evaluate"
    )
    error_message = "The slow-saga alarm reads the p99 of ExecutionTime, also with the few samples of an ordinary day."
  }

  assert {
    condition = alltrue([
      for a in concat(
        [
          aws_cloudwatch_metric_alarm.compensacao_pendente,
          aws_cloudwatch_metric_alarm.entrada_dlq,
          aws_cloudwatch_metric_alarm.entrada_atrasada,
          aws_cloudwatch_metric_alarm.duracao_p99,
        ],
        values(aws_cloudwatch_metric_alarm.maquina),
        values(aws_cloudwatch_metric_alarm.compensacao_manual),
        values(aws_cloudwatch_metric_alarm.disjuntor),
      ) :
      a.alarm_actions == toset(["arn:aws:sns:sa-east-1:123456789012:cesta-saga-alertas"])
      && a.treat_missing_data == "notBreaching"
    ])
    error_message = "Every alarm notifies the topic and stays quiet without data."
  }

  assert {
    condition     = aws_cloudwatch_dashboard.saga.dashboard_name == "cesta-saga"
    error_message = "The dashboard is cesta-saga."
  }

  assert {
    condition     = length(jsondecode(aws_cloudwatch_dashboard.saga.dashboard_body).widgets) == 15
    error_message = "One widget for each of the specification's seven questions, one for the gateway's circuit breaker, seven for what the functions count."
  }

  assert {
    condition     = alltrue([for w in jsondecode(aws_cloudwatch_dashboard.saga.dashboard_body).widgets : strcontains(w.properties.title, "?")])
    error_message = "Each widget is titled by its question."
  }

  assert {
    condition = alltrue([
      for metrica in [
        "ApproximateNumberOfMessagesVisible", "ApproximateAgeOfOldestMessage", "LambdaFunctionsScheduled",
        "ExecutionsFailed", "ExecutionTime", "ExecucoesJaExistentes", "DisjuntorAberto",
      ] :
      contains(flatten([
        for w in jsondecode(aws_cloudwatch_dashboard.saga.dashboard_body).widgets : [for m in try(w.properties.metrics, []) : m[1]]
      ]), metrica)
    ])
    error_message = "Each question is answered by its metric; a direct function ARN publishes LambdaFunction*."
  }

  assert {
    condition     = !strcontains(aws_cloudwatch_dashboard.saga.dashboard_body, "ServiceIntegration")
    error_message = "ServiceIntegration* stays empty for functions called by their direct ARN."
  }

  assert {
    condition = length(distinct([
      for w in jsondecode(aws_cloudwatch_dashboard.saga.dashboard_body).widgets : "${w.x},${w.y}"
    ])) == 15
    error_message = "No widget covers another."
  }
}

run "chave_do_sns_recusada" {
  command = plan

  module {
    source = "./modules/observabilidade"
  }

  variables {
    chave_kms_alertas = "alias/aws/sns"
  }

  expect_failures = [var.chave_kms_alertas]
}
