"""The queue ``cesta-compensacao-falhou``, which people read: the same message the saga sends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from comum.contrato import json_canonico

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

ERRO = "CobrancaOrfa"
ERRO_ESPERA = "EsperaSemDecisao"
ESPELHO = ("EstornarPagamento", "LiberarEstoque")
"""Compensations in the order in which they are done: the mirror of what was done."""


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
        self._avisar(pedido_id, erro, erro, ESPELHO)

    def lembrar_espera(self, pedido_id: str, desde: str, erro: str, pendentes: Sequence[str]) -> None:
        """Say again that an order waits for a person.

        Parameters
        ----------
        pedido_id : str
        desde : str
            ISO instant since which it waits.
        erro : str
            Name of the failure recorded on the order; empty when there is none.
        pendentes : Sequence[str]
            Compensations that may be missing, in mirror order.
        """
        espera = {"Error": ERRO_ESPERA, "Cause": f"o pedido espera uma pessoa desde {desde}"}
        self._avisar(pedido_id, {"Error": erro, "Cause": ""} if erro else espera, espera, pendentes)

    def _avisar(
        self, pedido_id: str, original: dict[str, str], da_compensacao: dict[str, str], pendentes: Sequence[str]
    ) -> None:
        self._sqs.send_message(
            QueueUrl=self._url,
            MessageBody=json_canonico(
                {
                    "pedidoId": pedido_id,
                    "executionArn": f"{self._arn_execucao}:{pedido_id}",
                    "passo": "conferir_cobrancas",
                    "passoCompensacao": pendentes[0],
                    "erroOriginal": original,
                    "erroDaCompensacao": da_compensacao,
                    "compensacoesPendentes": list(pendentes),
                }
            ),
        )
