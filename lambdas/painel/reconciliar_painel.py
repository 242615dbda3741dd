"""``ffv-lab-reconciliar-painel``: marks what an outage beyond the stream's 24 hours made invisible."""

import json
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from comum import aws
from comum.observabilidade import contar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora, agora_iso
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

    Started by hand (``loja``, ``recomecar``, ``simular``, ``carenciaSegundos``, all optional), by the alarm, or by the
    schedule (``pendencia``). By hand a run that stopped goes on where it was, unless ``recomecar`` is true; ``simular``
    counts and writes nothing. The alarm's is always whole, from the beginning: another outage's run, however
    unfinished, says nothing of this one. The schedule's goes on with a whole run that stopped, or repeats once one that
    left changes to the stream, past the grace period; most of the time there is neither, and it reads one item.

    Meets duplicate (two runs over the same gap): the gap's key and the condition on ATUAL make the second do nothing.
    Meets do after undo (the stream delivers while this reads): a change inside the grace period is left to the stream,
    and ATUAL is rewritten only if it is still what was compared. Undo before do does not arise.

    Returns
    -------
    dict[str, Any]
        ``{escopo, concluida, simulada, repetirApos, contagem: {conferidos, igual, lacunas, ...}, exemplos: [pedidoId,
        at most 50]}``; ``{"pendencia": False}`` when the schedule found nothing to do.

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
    andamento = _andamento(evento, painel, loja)
    if andamento is None:
        return {"pendencia": False}
    antes = andamento.contagem["lacunas"]  # of the parts of this run that came before
    andamento = reconciliador.executar(andamento, loja, _ha_tempo(contexto))
    resultado = {
        "escopo": andamento.escopo,
        "concluida": andamento.concluida,
        "simulada": simular,
        "repetirApos": andamento.repetir_apos,
        "contagem": dict(andamento.contagem),
        "exemplos": andamento.exemplos,
    }
    logger.info("reconciliacao", extra={nome: valor for nome, valor in resultado.items() if nome != "exemplos"})
    contar("LacunasMarcadas", 0 if simular else andamento.contagem["lacunas"] - antes)
    if not simular:
        sns.publish(
            TopicArn=configuracao.arn_topico_operacao,
            Subject=_assunto(andamento),
            Message=json.dumps(resultado, ensure_ascii=False),
        )
    return resultado


def _andamento(evento: dict[str, Any], painel: RepositorioPainel, loja: str | None) -> Andamento | None:
    """The run to do: a new one, one that stopped, or None when the schedule has nothing to do."""
    novo = Andamento(escopo=f"LOJA#{loja}" if loja else "TODAS", inicio=agora_iso())
    if evento.get("simular") is True or evento.get("recomecar") is True or "alarmData" in evento:
        return novo
    ultimo = painel.ler_andamento(novo.escopo)
    if evento.get("pendencia") is True:
        return ultimo.pendencia(agora()) if ultimo else None
    return novo if ultimo is None or ultimo.concluida else ultimo


def _assunto(andamento: Andamento) -> str:
    partes = [f"{andamento.contagem['lacunas']} lacunas"]
    if aguardando := andamento.contagem["aguardandoStream"]:
        partes.append(f"{aguardando} aguardam o stream")
    if not andamento.concluida:
        partes.append("ainda nao terminou")
    return f"Reconciliacao do painel: {', '.join(partes)}"


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
