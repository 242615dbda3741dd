# Dashboard cesta-saga: one widget per question, titled by the question. The functions are called by their direct ARN, so
# their counts are LambdaFunction* (lambda:invoke would publish ServiceIntegration* and leave these widgets empty).

locals {
  perguntas = [
    {
      pergunta = "Quantas sagas esperam uma pessoa agora? (acima de 0 por 5 min: alarme)"
      estat    = "Maximum"
      periodo  = 300
      metricas = [["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", var.filas.compensacao_falhou, { label = "Na fila humana" }]]
      linha    = 0
    },
    {
      pergunta = "As falhas são de cobrança ou de confirmação? (só LiberarEstoque: cobrança; EstornarPagamento também: confirmação)"
      estat    = "Sum"
      periodo  = 300
      metricas = [
        ["AWS/States", "LambdaFunctionsScheduled", "LambdaFunctionArn", var.funcoes["LiberarEstoque"], { label = "LiberarEstoque" }],
        ["AWS/States", "LambdaFunctionsScheduled", "LambdaFunctionArn", var.funcoes["EstornarPagamento"], { label = "EstornarPagamento" }],
      ]
      linha = null
    },
    {
      pergunta = "Alguma execução falhou de vez? (acima de 0: alarme)"
      estat    = "Sum"
      periodo  = 300
      metricas = [
        ["AWS/States", "ExecutionsFailed", "StateMachineArn", var.arn_maquina_saga, { label = "FAILED" }],
        ["AWS/States", "ExecutionsTimedOut", "StateMachineArn", var.arn_maquina_saga, { label = "TIMED_OUT" }],
        ["AWS/States", "ExecutionsAborted", "StateMachineArn", var.arn_maquina_saga, { label = "ABORTED" }],
      ]
      linha = 0
    },
    {
      pergunta = "A saga está mais lenta que o normal? (p99 da duração, ms)"
      estat    = "p99"
      periodo  = 300
      metricas = [["AWS/States", "ExecutionTime", "StateMachineArn", var.arn_maquina_saga, { label = "p99" }]]
      linha    = var.limiar_duracao_p99_ms
    },
    {
      pergunta = "A idempotência das execuções está atuando? (ExecutionAlreadyExists: informação, não alarme)"
      estat    = "Sum"
      periodo  = 300
      metricas = [["Cesta", "ExecucoesJaExistentes", "service", "cesta", { label = "Pedidos repetidos" }]]
      linha    = null
    },
    {
      pergunta = "O gateway está fora? (chamadas barradas pelo disjuntor, por operação; acima de 0: alarme)"
      estat    = "Sum"
      periodo  = 60
      metricas = [
        for operacao in ["cobrar", "estornar", "consultar"] :
        ["Cesta", "DisjuntorAberto", "service", "cesta", "operacao", operacao, { label = operacao }]
      ]
      linha = null
    },
    {
      pergunta = "Os pedidos que entram viram confirmados?"
      estat    = "Sum"
      periodo  = 300
      metricas = [
        ["Cesta", "PedidosRecebidos", "service", "cesta", { label = "Recebidos (API)" }],
        ["Cesta", "PedidosConfirmados", "service", "cesta", { label = "Confirmados" }],
        ["Cesta", "RequisicoesRepetidas", "service", "cesta", { label = "POST repetidos" }],
      ]
      linha = null
    },
    {
      pergunta = "Quantos pedidos foram recusados, e por quê?"
      estat    = "Sum"
      periodo  = 300
      metricas = [
        ["Cesta", "PedidosRecusados", "service", "cesta", { label = "Malfeitos (API)" }],
        ["Cesta", "EstoqueInsuficiente", "service", "cesta", { label = "Sem estoque" }],
        ["Cesta", "CartoesRecusados", "service", "cesta", { label = "Cartão recusado" }],
      ]
      linha = null
    },
    {
      pergunta = "Quanto se desfez, e quantos pedidos pararam numa pessoa?"
      estat    = "Sum"
      periodo  = 300
      metricas = [
        ["Cesta", "EstornosFeitos", "service", "cesta", { label = "Estornos" }],
        ["Cesta", "ReservasLiberadas", "service", "cesta", { label = "Reservas devolvidas" }],
        ["Cesta", "IntervencoesHumanas", "service", "cesta", { label = "Deixados para uma pessoa" }],
      ]
      linha = null
    },
    {
      pergunta = "O que chegou repetido ou tarde foi tratado? (duplicatas: informação; sobras: alarme)"
      estat    = "Sum"
      periodo  = 300
      metricas = [
        ["Cesta", "DuplicatasDescartadas", "service", "cesta", { label = "Duplicatas descartadas" }],
        ["Cesta", "OrfasLiberadas", "service", "cesta", { label = "Reservas órfãs devolvidas" }],
        ["Cesta", "BaixasTardias", "service", "cesta", { label = "Baixas tardias" }],
        ["Cesta", "CobrancasOrfas", "service", "cesta", { label = "Cobranças órfãs" }],
      ]
      linha = null
    },
    {
      pergunta = "O que ainda espera uma pessoa decidir? (por rodada das conferências)"
      estat    = "Maximum"
      periodo  = 900
      metricas = [
        ["Cesta", "ReservasComPessoa", "service", "cesta", { label = "Reservas de pedidos com uma pessoa" }],
        ["Cesta", "ReservasSemDecisao", "service", "cesta", { label = "Reservas de pedidos encerrados, sem decisão" }],
        ["Cesta", "ReservasPresas", "service", "cesta", { label = "Reservas de pedidos que não andam" }],
        ["Cesta", "AvisosRepetidos", "service", "cesta", { label = "Avisos mandados de novo à fila humana" }],
      ]
      linha = null
    },
    {
      pergunta = "As baixas e as conferências estão trabalhando?"
      estat    = "Sum"
      periodo  = 900
      metricas = [
        ["Cesta", "ReservasBaixadas", "service", "cesta", { label = "Reservas baixadas" }],
        ["Cesta", "ItensConferidos", "service", "cesta", { label = "Itens de estoque conferidos" }],
        ["Cesta", "CobrancasConferidas", "service", "cesta", { label = "Cobranças conferidas" }],
      ]
      linha = null
    },
    {
      pergunta = "O que falhou sem parar o sistema? (acima de 0, sustentado)"
      estat    = "Sum"
      periodo  = 300
      metricas = concat(
        [
          ["Cesta", "MensagensRecusadas", "service", "cesta", { label = "Mensagens recusadas na entrada" }],
          ["Cesta", "BaixasComFalha", "service", "cesta", { label = "Baixas com falha" }],
          ["Cesta", "BaixasSemReserva", "service", "cesta", { label = "Baixas sem reserva" }],
          ["Cesta", "ConferenciasComFalha", "service", "cesta", { label = "Conferências com falha" }],
          ["Cesta", "ConferenciasInterrompidas", "service", "cesta", { label = "Conferências interrompidas" }],
        ],
        [
          for operacao in ["cobrar", "estornar", "consultar"] :
          ["Cesta", "DisjuntorForaDeAlcance", "service", "cesta", "operacao", operacao, { label = "Disjuntor sem tabela: ${operacao}" }]
        ],
      )
      linha = 0
    },
    {
      pergunta = "A fila de entrada está acumulando? (crescendo por 10 min)"
      estat    = "Maximum"
      periodo  = 60
      metricas = [
        ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", var.filas.pedidos_criados, { label = "Esperando" }],
        ["AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", var.filas.pedidos_criados, { label = "Idade da mais antiga (s)", yAxis = "right" }],
      ]
      linha = null
    },
  ]

  # Read from the execution log: the first and the last of the two steps of one execution are what the customer's units waited.
  consulta_tempo_reservado = join(" | ", [
    "SOURCE '${var.grupo_log_maquina}'",
    "filter type = 'TaskStateExited' and details.name in ['ReservarEstoque', 'LiberarEstoque']",
    "stats (max(@timestamp) - min(@timestamp)) / 1000 as segundos, count(*) as passos by execution_arn",
    "filter passos > 1",
    "sort segundos desc",
    "limit 20",
  ])

  graficos = [
    for p in local.perguntas : {
      type = "metric"
      properties = merge(
        {
          title   = p.pergunta
          view    = "timeSeries"
          region  = var.regiao
          stat    = p.estat
          period  = p.periodo
          metrics = p.metricas
          yAxis   = { left = { min = 0 } }
        },
        p.linha == null ? {} : { annotations = { horizontal = [{ label = "limite", value = p.linha }] } },
      )
    }
  ]

  consultas = [{
    type = "log"
    properties = {
      title  = "Quanto tempo o estoque fica reservado antes da compensação? (s, por execução)"
      view   = "table"
      region = var.regiao
      query  = local.consulta_tempo_reservado
    }
  }]
}

resource "aws_cloudwatch_dashboard" "saga" {
  dashboard_name = "cesta-saga"

  dashboard_body = jsonencode({
    widgets = [
      for i, w in concat(local.graficos, local.consultas) :
      merge(w, { x = (i % 3) * 8, y = floor(i / 3) * 6, width = 8, height = 6 })
    ]
  })
}
