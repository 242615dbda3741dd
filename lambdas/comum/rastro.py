"""What leaves for X-Ray. Imported only where tracing is on: its base class comes with aws-xray-sdk."""

from typing import Any

from aws_xray_sdk.core.emitters.udp_emitter import UDPEmitter


class EmissorDiscreto(UDPEmitter):
    """Sends each (sub)segment without the text of the errors in it; their class and stack stay.

    The SDK records ``str(error)`` of whatever crosses a subsegment, AWS's refusals too, and those may quote the card's
    token: Powertools' ``capture_error`` is about another copy of it, in the metadata.
    """

    def send_entity(self, entity: Any) -> None:
        _calar(entity)
        super().send_entity(entity)


def _calar(entidade: Any) -> None:
    if isinstance(entidade.cause, dict):  # else the id of an error that another subsegment carries
        for erro in entidade.cause.get("exceptions", []):
            erro.message = None
    for dentro in entidade.subsegments:
        _calar(dentro)
