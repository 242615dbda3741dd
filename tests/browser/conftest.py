"""A real browser against the real API handler; moto answers for DynamoDB. Nothing leaves the machine."""

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from comum import aws as comum_aws
from comum.relogio import para_iso
from painel.alertas import AlertaReposicao
from painel.gravacao import Gravador
from painel.repositorio import RepositorioPainel
from painel.transicao import Transicao
from tests.browser.servidor import Servidor
from tests.models.fonte_painel import criar_tabela_painel
from tests.unit.conftest import aws, processo_limpo

__all__ = ["aws", "processo_limpo"]

TELAS = Path(__file__).resolve().parents[2] / "build" / "telas"
_OPCOES = [
    "--no-sandbox",  # the tests may run as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
Mudar = Callable[..., Transicao]

# What is expected is waited for; a browser on a busy machine takes long to show a page of orders.
expect.set_options(timeout=20_000)


def achar_chromium() -> str | None:
    """Path of a Chromium: ``CESTA_CHROMIUM``, else one of the usual names on PATH."""
    nomes = [os.environ.get("CESTA_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((caminho for nome in nomes if nome and (caminho := shutil.which(nome))), None)


@pytest.fixture(scope="module")
def navegador() -> Iterator[Browser]:
    """One headless Chromium for all the tests; skipped, and said so, where there is none.

    It ends with its module: Playwright refuses a second one in the same process, and an end-to-end test opens its own.
    """
    executavel = achar_chromium()
    if executavel is None:
        pytest.skip("no Chromium: the page was NOT tested in a browser (apt-get install chromium, or CESTA_CHROMIUM)")
    with sync_playwright() as motor:
        aberto = motor.chromium.launch(executable_path=executavel, args=_OPCOES)
        yield aberto
        aberto.close()


@pytest.fixture
def servidor(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Servidor]:
    """The panel's API over an empty table, asked every second."""
    criar_tabela_painel()
    for nome, valor in {
        "TABELA_PAINEL": "painel_operacao",
        "AUTENTICACAO": "nenhuma",
        "URL_LOGIN": "",
        "CLIENTE_LOGIN": "",
        "INTERVALO_CONSULTA_MS": "1000",
    }.items():
        monkeypatch.setenv(nome, valor)
    no_ar = Servidor()
    yield no_ar
    no_ar.parar()


class SemTopico:
    """The alert is not what these tests look at."""

    def publicar(self, alerta: AlertaReposicao) -> None:
        return


@pytest.fixture
def mudar(servidor: Servidor) -> Mudar:
    """Make an order change status (``ha_s`` seconds ago) the way the consumer does, which writes it ``gravado_ha_s``
    seconds ago; returns the transition.
    """
    gravador = Gravador(RepositorioPainel(comum_aws.dynamodb(), "painel_operacao"), SemTopico())
    ultima = [0]

    def fazer(
        pedido: str, de: str, para: str, *, ha_s: int = 0, gravado_ha_s: int = 0, loja: str = "L001"
    ) -> Transicao:
        ultima[0] += 1
        transicao = Transicao(
            pedido_id=pedido,
            loja=loja,
            de=de,
            para=para,
            em=para_iso(datetime.now(UTC) - timedelta(seconds=ha_s)),
            sequencia=f"{ultima[0]:040d}",
        )
        gravado = para_iso(datetime.now(UTC) - timedelta(seconds=gravado_ha_s))
        with patch("painel.gravacao.agora_iso", return_value=gravado):
            gravador.aplicar(transicao)
        return transicao

    return fazer


@pytest.fixture
def contexto(navegador: Browser) -> Iterator[BrowserContext]:
    """A fresh profile; ends by checking that the page broke no policy and raised nothing."""
    aberto = navegador.new_context(
        locale="pt-BR", timezone_id="America/Sao_Paulo", viewport={"width": 1280, "height": 860}
    )
    aberto.set_default_timeout(8_000)
    problemas: list[str] = []
    aberto.on("weberror", lambda erro: problemas.append(str(erro.error)))
    aberto.on(
        "console",
        lambda mensagem: problemas.append(mensagem.text) if "Content Security Policy" in mensagem.text else None,
    )
    yield aberto
    aberto.close()
    assert problemas == []


@pytest.fixture
def pagina(contexto: BrowserContext) -> Page:
    """A tab on a desktop screen."""
    return contexto.new_page()


@pytest.fixture
def fotografar() -> Callable[[Page, str], None]:
    """Keep a screenshot in build/telas/."""

    def tirar(pagina: Page, nome: str, **opcoes: Any) -> None:
        TELAS.mkdir(parents=True, exist_ok=True)
        pagina.screenshot(path=TELAS / f"{nome}.png", **opcoes)

    return tirar
