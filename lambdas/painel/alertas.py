"""The restock alert on ``ffv-lab-alerta-reposicao-estoque``: what the store's stock team is told."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

TITULO = "Pedido cancelado apos separado — reposicao de estoque"
# SNS refuses a subject that is not ASCII (https://docs.aws.amazon.com/sns/latest/api/API_Publish.html), and the title
# has a dash.
ASSUNTO = TITULO.replace("—", "-")


@dataclass(frozen=True)
class AlertaReposicao:
    """One packed order that was cancelled.

    Attributes
    ----------
    id_alerta : str
        The same in every publication of this alert (order and item that claimed it): a subscriber drops repeats by it.
    pedido_id, loja : str
        Order and store.
    em : str
        When the cancellation happened, UTC ISO-8601.
    origem : str
        ``stream``, or ``reconciliacao`` when the stream had lost the change and the states in between are unknown.
    """

    id_alerta: str
    pedido_id: str
    loja: str
    em: str
    origem: Literal["stream", "reconciliacao"]


class PublicadorAlertas:
    """Publishes on the restock topic, and only there: alarms of the system go to another topic."""

    def __init__(self, cliente: "SNSClient", arn_topico: str) -> None:
        self._cliente = cliente
        self._arn_topico = arn_topico

    def publicar(self, alerta: AlertaReposicao) -> None:
        """Publish one alert; any error means that it may or may not have gone out."""
        self._cliente.publish(
            TopicArn=self._arn_topico,
            Subject=ASSUNTO,
            Message=json.dumps(
                {
                    "mensagem": TITULO,
                    "idAlerta": alerta.id_alerta,
                    "pedidoId": alerta.pedido_id,
                    "loja": alerta.loja,
                    "em": alerta.em,
                    "origem": alerta.origem,
                },
                ensure_ascii=False,
            ),
            MessageAttributes={
                "loja": {"DataType": "String", "StringValue": alerta.loja},
                "idAlerta": {"DataType": "String", "StringValue": alerta.id_alerta},
            },
        )
