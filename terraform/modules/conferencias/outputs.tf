output "funcoes" {
  description = "The functions by logical id: name, ARN, invoke ARN, role name."
  value = {
    for id, f in {
      BaixarReserva     = module.baixar_reserva
      ConferirReservas  = module.conferir_reservas
      ConferirCobrancas = module.conferir_cobrancas
    } : id => { nome = f.nome, arn = f.arn, arn_invocacao = f.arn_invocacao, papel = f.nome_papel }
  }
}

output "tabelas" {
  description = "Names of the tables."
  value       = { baixas = aws_dynamodb_table.baixas.name, conferencias = aws_dynamodb_table.conferencias.name }
}

output "url_dlq" {
  description = "URL of the queue of discarded stream records."
  value       = aws_sqs_queue.dlq.url
}

output "agendamentos" {
  description = "Schedules by function name: group and name."
  value       = { for nome, a in aws_scheduler_schedule.conferencias : nome => { grupo = a.group_name, nome = a.name } }
}
