"""Leaves an order on ``ffv-lab-fila-pedidos``."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from comum.aws import codigo_do_erro
from comum.contrato import json_canonico
from fila.erros import FilaForaDeAlcanceError
from fila.modelos import MensagemDePedido

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class FilaDePedidos:
    """Publishes orders.

    Parameters
    ----------
    sqs : SQSClient
        Client.
    url : str
        Queue address.
    """

    def __init__(self, sqs: "SQSClient", url: str) -> None:
        self._sqs = sqs
        self._url = url

    def publicar(self, mensagem: MensagemDePedido) -> None:
        """Send the order, with its id as the message attribute ``PedidoId`` too.

        Raises
        ------
        FilaForaDeAlcanceError
            Refused, or the answer was lost; publishing the same order again is safe, the consumer drops the repeat.
        """
        try:
            self._sqs.send_message(
                QueueUrl=self._url,
                MessageBody=json_canonico(mensagem.model_dump()),
                MessageAttributes={"PedidoId": {"DataType": "String", "StringValue": mensagem.pedidoId}},
            )
        except (ClientError, BotoCoreError) as erro:
            codigo = codigo_do_erro(erro)
        else:
            return
        raise FilaForaDeAlcanceError("the queue did not take the order", codigo=codigo)
