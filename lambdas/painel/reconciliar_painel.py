"""``ffv-lab-reconciliar-painel``: marks what an outage beyond the stream's 24 hours made invisible."""

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from comum import aws
from comum.observabilidade import contar, logger, observado
from comum.processo import uma_vez
from painel.alertas import PublicadorAlertas
from painel.configuracao import ConfiguracaoReconciliacao
from painel.erros import ConsultaInvalidaError
from painel.origem import TabelaDeOrigem
from painel.reconciliacao import Andamento, Reconciliador
from painel.repositorio import RepositorioPainel

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

_LOJA = re.compile(r"[0-9A-Za-z_-]{1,32}\Z")
_RESERVA_MS = 20_000


@uma_vez
def _configuracao() -> ConfiguracaoReconciliacao:
    return ConfiguracaoReconciliacao.do_ambiente()


@observado
def handler(evento: dict[str, Any], contexto: Any) -> dict[str, Any]:
    """Compare the source with ATUAL, whole or by store, until done or out of time.

    Started by hand (``loja``, ``recomecar``, ``simular``, ``carenciaSegundos``, all optional) or by the alarm, whose
    event is a whole reconciliation. A run that stopped goes on where it was, unless ``recomecar`` is true.
    ``simular`` counts and writes nothing.

    Meets duplicate (two runs over the same gap): the gap's key and the condition on ATUAL make the second do nothing.
    Meets do after undo (the stream delivers while this reads): a change inside the grace period is left to the stream,
    and ATUAL is rewritten only if it is still what was compared. Undo before do does not arise.

    Returns
    -------
    dict[str, Any]
        ``{escopo, concluida, contagem: {conferidos, igual, lacunas, ...}, exemplos: [pedidoId, at most 50]}``.

    Raises
    ------
    ConsultaInvalidaError
        ``loja`` or ``carenciaSegundos`` is malformed.
    """
    configuracao = _configuracao()
    loja, carencia = _loja(evento), _carencia(evento, configuracao.carencia_s)
    simular = evento.get("simular") is True
    painel = RepositorioPainel(aws.dynamodb(), configuracao.tabela_painel)
    sns = cast("SNSClient", aws.cliente("sns"))
    reconciliador = Reconciliador(
        TabelaDeOrigem(aws.dynamodb(), configuracao.tabela_origem),
        painel,
        PublicadorAlertas(sns, configuracao.arn_topico_reposicao),
        timedelta(seconds=carencia),
        frozenset(configuracao.status_iniciais.split(",")),
        simular=simular,
    )
    andamento = Andamento(escopo=f"LOJA#{loja}" if loja else "TODAS")
    if not simular and evento.get("recomecar") is not True:
        andamento = painel.retomar_andamento(andamento.escopo) or andamento
    andamento = reconciliador.executar(andamento, loja, _ha_tempo(contexto))
    resultado = {
        "escopo": andamento.escopo,
        "concluida": andamento.concluida,
        "simulada": simular,
        "contagem": dict(andamento.contagem),
        "exemplos": andamento.exemplos,
    }
    logger.info("reconciliacao", extra={nome: valor for nome, valor in resultado.items() if nome != "exemplos"})
    contar("LacunasMarcadas", 0 if simular else andamento.contagem["lacunas"])
    if andamento.concluida and andamento.contagem["lacunas"] and not simular:
        sns.publish(
            TopicArn=configuracao.arn_topico_operacao,
            Subject=f"Reconciliacao do painel: {andamento.contagem['lacunas']} lacunas",
            Message=json.dumps(resultado, ensure_ascii=False),
        )
    return resultado


def _loja(evento: dict[str, Any]) -> str | None:
    loja = evento.get("loja")
    if loja is None:
        return None
    if not isinstance(loja, str) or not _LOJA.match(loja):
        raise ConsultaInvalidaError("loja inválida")
    return loja


def _carencia(evento: dict[str, Any], padrao: int) -> int:
    segundos = evento.get("carenciaSegundos", padrao)
    if not isinstance(segundos, int) or isinstance(segundos, bool) or segundos < 0:
        raise ConsultaInvalidaError("carenciaSegundos inválido")
    return segundos


def _ha_tempo(contexto: Any) -> Any:
    restante = getattr(contexto, "get_remaining_time_in_millis", None)
    return (lambda: restante() > _RESERVA_MS) if callable(restante) else (lambda: True)
