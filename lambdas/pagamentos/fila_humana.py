"""The queue ``cesta-compensacao-falhou``, which people read: the same message the saga sends."""

from typing import TYPE_CHECKING

from comum.contrato import json_canonico

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

ERRO = "CobrancaOrfa"


class FilaHumana:
    """Sends orders to a person.

    Parameters
    ----------
    sqs : SQSClient
    url : str
        Queue URL.
    arn_maquina_saga : str
        State machine whose execution has the order's name.
    """

    def __init__(self, sqs: "SQSClient", url: str, arn_maquina_saga: str) -> None:
        self._sqs = sqs
        self._url = url
        self._arn_execucao = arn_maquina_saga.replace(":stateMachine:", ":execution:")

    def avisar_cobranca_orfa(self, pedido_id: str, status: str) -> None:
        """Ask for the refund of an order that holds an approved charge and is ``status``."""
        erro = {"Error": ERRO, "Cause": f"o gateway tem a cobrança aprovada e o pedido está {status}"}
        self._sqs.send_message(
            QueueUrl=self._url,
            MessageBody=json_canonico(
                {
                    "pedidoId": pedido_id,
                    "executionArn": f"{self._arn_execucao}:{pedido_id}",
                    "passo": "conferir_cobrancas",
                    "passoCompensacao": "EstornarPagamento",
                    "erroOriginal": erro,
                    "erroDaCompensacao": erro,
                    "compensacoesPendentes": ["EstornarPagamento", "LiberarEstoque"],
                }
            ),
        )
