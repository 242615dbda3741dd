"""How the stand-in gateway decides: the contract's rules, and one behaviour per card token.

| token | behaviour |
|---|---|
| ``tok-forcar-recusa`` | refused (402) |
| ``tok-indisponivel`` | 503 always, nothing charged |
| ``tok-indisponivel-2x`` | 503 to the first two attempts of a key, then approved |
| ``tok-erro-apos-cobrar`` | charged, and every answer under the key is 500 (a stored 500 is replayed, as Stripe does) |
| ``tok-lento-apos-cobrar`` | charged, and that answer takes ATRASO_LENTO_S; a repeat is answered at once |
| ``tok-cobra-depois`` | tried only after ATRASO_LENTO_S: the client gave up, a refund may have come first |
| any other (``tok-ok``) | approved |
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from comum.chave_idempotencia import impressao_de
from comum.contrato import CartaoToken, PedidoId, ValorCentavos
from comum.http_borda import ProblemaHttp, RespostaHttp, resposta_json
from comum.relogio import agora
from desenhos_minimos.gateway_tabela import CobrancaGuardada, DisputaPerdida, Movimento, Situacao, TabelaGateway

TENTATIVAS_INDISPONIVEIS = 2
RELEITURAS = 5

ChaveGateway = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9A-Za-z_-]{1,64}\z")]


class PedidoDeCobranca(BaseModel):
    """Body of ``POST /cobrancas``; ``valorCentavos`` in centavos, ``referencia`` is the merchant's order id."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    valorCentavos: ValorCentavos
    cartaoToken: CartaoToken = Field(repr=False)
    referencia: PedidoId


class PedidoDeEstorno(BaseModel):
    """Body of ``POST /estornos``."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    tokenCobranca: ChaveGateway


def recusa(status: int, codigo: str, detalhe: str) -> ProblemaHttp:
    """A refusal with the contract's ``codigo``."""
    return ProblemaHttp(status, codigo.lower().replace("_", "-"), "Recusado pelo gateway", detalhe, codigo=codigo)


@dataclass(frozen=True)
class Gateway:
    """The stand-in over its table.

    Parameters
    ----------
    tabela : TabelaGateway
        Where everything is kept.
    atraso_lento_s, atraso_padrao_s : float
        Seconds: how long the slow cards take, and how long any charge takes to be decided.
    dormir : Callable[[float], None]
        Waits, in seconds.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    tabela: TabelaGateway
    atraso_lento_s: float
    atraso_padrao_s: float
    dormir: Callable[[float], None] = time.sleep
    relogio: Callable[[], datetime] = agora

    def cobrar(self, chave: str, pedido: PedidoDeCobranca) -> RespostaHttp:
        """Charge once per key; raises ProblemaHttp with the contract's codes."""
        impressao = impressao_de(pedido.model_dump())
        if pedido.cartaoToken == "tok-cobra-depois" and self._sem_desfecho(chave):
            self.dormir(self.atraso_lento_s)
        minha, cobranca = self.tabela.reivindicar(chave, impressao, pedido.valorCentavos, pedido.referencia)
        if not minha or cobranca is None:
            return self._repetida(chave, cobranca, impressao)
        if self._indisponivel_para(chave, pedido.cartaoToken):
            self.tabela.soltar(chave, cobranca)
            raise recusa(503, "INDISPONIVEL", "Tente de novo mais tarde.")
        self.dormir(self.atraso_padrao_s)
        situacao = Situacao.RECUSADA if pedido.cartaoToken == "tok-forcar-recusa" else Situacao.APROVADA
        try:
            decidida = self.tabela.decidir(
                chave, cobranca, situacao, falha_guardada=pedido.cartaoToken == "tok-erro-apos-cobrar"
            )
        except DisputaPerdida:
            return self._repetida(chave, self.tabela.cobranca(chave), impressao)
        if pedido.cartaoToken == "tok-lento-apos-cobrar":
            self.dormir(self.atraso_lento_s)
        return _responder(decidida)

    def estornar(self, chave: str, pedido: PedidoDeEstorno) -> RespostaHttp:
        """Refund once per key, or make the charge's key unusable; raises ProblemaHttp with the contract's codes."""
        impressao = impressao_de(pedido.model_dump())
        for _ in range(RELEITURAS):
            anterior = self.tabela.estorno(chave)
            if anterior is not None and anterior.impressao != impressao:
                raise recusa(422, "CHAVE_REUTILIZADA", "A chave já foi usada com outro conteúdo.")
            if anterior is not None:
                return resposta_json(201, {"resultado": anterior.resultado})
            try:
                return resposta_json(201, {"resultado": self._decidir_estorno(chave, impressao, pedido.tokenCobranca)})
            except DisputaPerdida:
                continue
        raise recusa(409, "EM_ANDAMENTO", "A cobrança está sendo alterada.")

    def consultar(self, chave: str) -> RespostaHttp:
        """The charge under a key; 404 COBRANCA_INEXISTENTE when nothing was charged and nothing is being tried."""
        cobranca = self.tabela.cobranca(chave)
        if cobranca is None or cobranca.situacao is Situacao.CANCELADA:
            raise recusa(404, "COBRANCA_INEXISTENTE", "Não há cobrança com este token.")
        corpo: dict[str, Any] = {
            "tokenCobranca": chave,
            "status": cobranca.situacao.value,
            "valorCentavos": cobranca.valor,
            "referencia": cobranca.referencia,
        }
        if cobranca.id_transacao:
            corpo["idTransacao"] = cobranca.id_transacao
        return resposta_json(200, corpo)

    def _decidir_estorno(self, chave: str, impressao: str, token_cobranca: str) -> str:
        cobranca = self.tabela.cobranca(token_cobranca)
        situacao = None if cobranca is None else cobranca.situacao
        if cobranca is not None and situacao is Situacao.EM_ANDAMENTO and self._viva(cobranca):
            raise recusa(409, "EM_ANDAMENTO", "A cobrança ainda está sendo decidida.")
        if cobranca is not None and situacao is Situacao.APROVADA:
            self.tabela.devolver(chave, impressao, token_cobranca, cobranca)
            return Situacao.ESTORNADA.value
        if situacao is Situacao.ESTORNADA:
            self.tabela.guardar_veredito(chave, impressao, Situacao.ESTORNADA)
            return Situacao.ESTORNADA.value
        if situacao is Situacao.CANCELADA:
            self.tabela.guardar_veredito(chave, impressao, Movimento.NADA_A_ESTORNAR)
        else:
            self.tabela.cancelar(chave, impressao, token_cobranca, cobranca)
        return Movimento.NADA_A_ESTORNAR.value

    def _repetida(self, chave: str, cobranca: CobrancaGuardada | None, impressao: str) -> RespostaHttp:
        if cobranca is None:
            raise recusa(409, "EM_ANDAMENTO", "A cobrança está sendo alterada.")
        if cobranca.situacao is Situacao.CANCELADA:
            self.tabela.bloquear(chave, cobranca.referencia)
            raise recusa(409, "TOKEN_CANCELADO", "Este token não pode mais ser cobrado.")
        if cobranca.impressao != impressao:
            raise recusa(422, "CHAVE_REUTILIZADA", "A chave já foi usada com outro conteúdo.")
        return _responder(cobranca)

    def _sem_desfecho(self, chave: str) -> bool:
        cobranca = self.tabela.cobranca(chave)
        return cobranca is None or cobranca.situacao is Situacao.EM_ANDAMENTO

    def _viva(self, cobranca: CobrancaGuardada) -> bool:
        return cobranca.posse >= int(self.relogio().timestamp() * 1000)

    def _indisponivel_para(self, chave: str, cartao_token: str) -> bool:
        match cartao_token:
            case "tok-indisponivel":
                return True
            case "tok-indisponivel-2x":
                return self.tabela.contar_tentativa(chave) <= TENTATIVAS_INDISPONIVEIS
        return False


def _responder(cobranca: CobrancaGuardada) -> RespostaHttp:
    if cobranca.situacao is Situacao.EM_ANDAMENTO:
        raise recusa(409, "EM_ANDAMENTO", "A cobrança ainda está sendo decidida.")
    if cobranca.situacao is Situacao.RECUSADA:
        raise recusa(402, "CARTAO_RECUSADO", "O cartão foi recusado.")
    if cobranca.falha_guardada:
        raise recusa(500, "ERRO_INTERNO", "Erro interno.")
    return resposta_json(201, {"idTransacao": cobranca.id_transacao, "status": Situacao.APROVADA.value})
