"""Powertools' idempotency record on ``ffv-lab-fila-pedidos-processados`` (hash ``PedidoId``, TTL ``ExpiraEm``).

The record is what keeps two deliveries of one order from working at the same time and what answers a duplicate
without redoing anything. It never guards the effect alone: Powertools deletes it when the function raises and forgets
it after 30 days; the effect's own marker and the gateway's key hold beyond that.
"""

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyKeyError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TRINTA_DIAS_S = 30 * 24 * 60 * 60
REPETIDO = "repetido"


class TabelaDeProcessados(DynamoDBPersistenceLayer):
    """The record under the order's own id, so that a person can look an order up by what they know.

    Powertools would write ``prefix#md5(pedidoId)``. The id is a validated UUID, so it needs no hash to be a good key.
    """

    def __init__(self, tabela: str, cliente: "DynamoDBClient") -> None:
        super().__init__(
            table_name=tabela,
            key_attr="PedidoId",
            expiry_attr="ExpiraEm",
            in_progress_expiry_attr="EmAndamentoAte",
            status_attr="Situacao",
            data_attr="Resultado",
            validation_key_attr="Impressao",
            boto3_client=cliente,
        )

    def _get_hashed_idempotency_key(self, data: dict[str, Any]) -> str:
        pedido_id = data.get("pedidoId")
        if not isinstance(pedido_id, str) or not pedido_id:
            raise IdempotencyKeyError("pedidoId missing")
        return pedido_id


def configuracao_de_idempotencia() -> IdempotencyConfig:
    """30 days of memory and a fingerprint of the content.

    How long IN_PROGRESS holds comes from the Lambda context registered at each invocation: the time left of this
    invocation, at most the function's 10 s, so the record has expired when the message's 60 s of invisibility end.
    """
    return IdempotencyConfig(
        event_key_jmespath="pedidoId",
        payload_validation_jmespath="[itemId, quantidade, valorCentavos, lojaId]",
        raise_on_no_idempotency_key=True,
        expires_after_seconds=TRINTA_DIAS_S,
        use_local_cache=False,
        hash_function="sha256",
        response_hook=_marcar_repetido,
    )


def _marcar_repetido(response: Any, idempotent_data: Any) -> Any:
    return {**response, REPETIDO: True} if isinstance(response, dict) else response
