"""Starts executions of the saga: one per order, for ever."""

import json
from typing import TYPE_CHECKING

from comum.contrato import EntradaSaga, ler
from comum.erros import PedidoInvalidoError
from pedidos.erros import PedidoDivergenteError

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class MaquinaSaga:
    """The state machine ``cesta-saga-pedido``.

    Parameters
    ----------
    stepfunctions : SFNClient
        Client.
    arn : str
        ARN of the state machine, or of an alias of it. Either starts the same executions: a name is taken once in the
        machine, whatever version runs it.
    """

    def __init__(self, stepfunctions: "SFNClient", arn: str) -> None:
        self._stepfunctions = stepfunctions
        self._arn = arn

    def iniciar(self, entrada: EntradaSaga) -> bool:
        """Start the order's execution, named by its pedidoId.

        AWS answers 200 with the same ARN to an identical call while the execution runs, and ExecutionAlreadyExists to
        a different input or to any call after it closed (90 days). Another engine may answer ExecutionAlreadyExists
        to both, so that error alone never tells a duplicate from a conflict: the stored input does.

        Returns
        -------
        bool
            False if it had been started before with this very order.

        Raises
        ------
        PedidoDivergenteError
            The name is taken by an execution with another input.
        """
        try:
            self._stepfunctions.start_execution(
                stateMachineArn=self._arn, name=entrada.pedidoId, input=entrada.canonico()
            )
        except self._stepfunctions.exceptions.ExecutionAlreadyExists:
            if self._entrada_guardada(entrada.pedidoId) != entrada.canonico():
                raise PedidoDivergenteError(
                    "an execution with another input has this name", pedidoId=entrada.pedidoId
                ) from None
            return False
        return True

    def _entrada_guardada(self, pedido_id: str) -> str:
        """Canonical input of the execution with this name, or its raw text if it is not a saga's input."""
        # An alias's ARN has one part more, which an execution's does not carry:
        # https://docs.aws.amazon.com/step-functions/latest/dg/execution-alias-version-associate.html
        maquina = ":".join(self._arn.split(":")[:7])
        arn = f"{maquina.replace(':stateMachine:', ':execution:', 1)}:{pedido_id}"
        guardada = self._stepfunctions.describe_execution(executionArn=arn).get("input", "")
        try:
            return ler(EntradaSaga, json.loads(guardada)).canonico()
        except (ValueError, PedidoInvalidoError):
            return guardada
