"""The queue ``cesta-pedidos-criados``: where the API leaves an order for the saga."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from comum.aws import codigo_do_erro
from comum.contrato import EntradaSaga
from pedidos.erros import FilaIndisponivelError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class FilaPedidosCriados:
    """Publishes created orders.

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

    def publicar(self, entrada: EntradaSaga) -> None:
        """Send the order's canonical JSON.

        Raises
        ------
        FilaIndisponivelError
            Refused, or the answer was lost; publishing the same order again is safe.
        """
        try:
            self._sqs.send_message(QueueUrl=self._url, MessageBody=entrada.canonico())
        except (ClientError, BotoCoreError) as erro:
            codigo = codigo_do_erro(erro)
        else:
            return
        raise FilaIndisponivelError("the queue did not take the order", codigo=codigo)
