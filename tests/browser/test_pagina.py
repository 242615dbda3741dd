"""The manager's page in a real browser: what a person sees, with mouse, keyboard and a phone."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Route, expect

from comum import aws as comum_aws
from tests.browser.conftest import Mudar
from tests.browser.servidor import Servidor

Fotografar = Callable[..., None]

pytestmark = pytest.mark.browser


def povoar(mudar: Mudar) -> None:
    """A store in the middle of the day."""
    for numero, ha_s in enumerate((4200, 2600, 1900, 1200, 640, 300, 150, 45)):
        pedido = f"2026-{1040 + numero}"
        mudar(pedido, "PENDENTE", "SEPARADO", ha_s=ha_s + 900)
        if numero % 4 != 3:
            mudar(pedido, "SEPARADO", "EM_ENTREGA", ha_s=ha_s + 300)
        if numero % 4 == 1:
            mudar(pedido, "EM_ENTREGA", "ENTREGUE", ha_s=ha_s)
    mudar("2026-1039", "SEPARADO", "PENDENTE", ha_s=500)
    mudar("2026-1051", "PENDENTE", "CANCELADO", ha_s=900)
    mudar("2026-1055", "PENDENTE", "SEPARADO", ha_s=700)
    mudar("2026-1055", "SEPARADO", "CANCELADO", ha_s=200)
    mudar("2026-1058", "PENDENTE", "SEPARADO", ha_s=400)
    mudar("2026-1058", "SEPARADO", "CANCELADO", ha_s=30)


def abrir(pagina: Page, servidor: Servidor, consulta: str = "?loja=L001") -> None:
    """Until the store's orders are on the page. Before its panel is shown, that it is loading is hidden too."""
    pagina.goto(servidor.url + consulta)
    expect(pagina.locator("#painel")).to_be_visible()
    expect(pagina.locator("#carregando")).to_be_hidden()


def esperar(pagina: Page, condicao: Callable[[], bool]) -> None:
    """Until what only the server knows is so. Raises AssertionError after 20 seconds."""
    limite = time.monotonic() + 20
    while not condicao():
        assert time.monotonic() < limite, "not within 20 s"
        pagina.wait_for_timeout(50)


def coluna(pagina: Page, status: str) -> Any:
    return pagina.locator(f"section.coluna[data-status={status}]")


def esconder(pagina: Page, escondida: bool) -> None:
    """As when the person looks at another tab, or comes back."""
    pagina.evaluate(
        "valor => { Object.defineProperty(document, 'hidden', {value: valor, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange')) }",
        escondida,
    )


def passar_um_minuto(pagina: Page) -> None:
    """The page's clock jumps past its next whole listing."""
    pagina.evaluate("const antes = Date.now.bind(Date); Date.now = () => antes() + 61_000")


def test_lista_por_status(servidor: Servidor, mudar: Mudar, pagina: Page, fotografar: Fotografar) -> None:
    povoar(mudar)
    mudar("DE-OUTRA-LOJA", "PENDENTE", "SEPARADO", loja="L002")
    abrir(pagina, servidor)
    expect(coluna(pagina, "CANCELADO").locator(".pedido")).to_have_count(3)
    expect(coluna(pagina, "ENTREGUE").locator(".pedido")).to_have_count(2)
    expect(pagina.get_by_text("DE-OUTRA-LOJA")).to_have_count(0)
    expect(pagina.get_by_text("Ao vivo")).to_be_visible()
    fotografar(pagina, "painel-computador")


def test_filtra_por_status_e_por_numero(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    povoar(mudar)
    abrir(pagina, servidor)
    pagina.get_by_role("button", name=re.compile("^Cancelado")).click()
    expect(pagina.locator("section.coluna")).to_have_count(1)
    expect(pagina.locator(".pedido")).to_have_count(3)
    assert "status=CANCELADO" in pagina.url
    pagina.get_by_label("Procurar pelo número do pedido").fill("1058")
    expect(pagina.locator(".pedido")).to_have_count(1)
    pagina.get_by_label("Procurar pelo número do pedido").fill("nada-assim")
    expect(pagina.get_by_text("Nenhum pedido com este filtro")).to_be_visible()


def test_mudanca_aparece_sozinha_em_segundos(
    servidor: Servidor, mudar: Mudar, pagina: Page, fotografar: Fotografar
) -> None:
    povoar(mudar)
    abrir(pagina, servidor)
    mudar("2026-1047", "SEPARADO", "EM_ENTREGA")
    expect(coluna(pagina, "EM_ENTREGA").locator("[data-pedido='2026-1047']")).to_be_visible()
    expect(pagina.locator("#anuncio")).to_have_text("Pedido 2026-1047: Em entrega.")
    fotografar(pagina, "painel-mudanca")


def test_cancelado_apos_separado_fica_em_destaque_ate_reconhecer(
    servidor: Servidor, mudar: Mudar, pagina: Page, contexto: BrowserContext
) -> None:
    mudar("2026-7", "PENDENTE", "SEPARADO", ha_s=60)
    abrir(pagina, servidor)
    expect(pagina.locator("#reposicao")).to_be_hidden()
    mudar("2026-7", "SEPARADO", "CANCELADO")
    mudar("2026-8", "PENDENTE", "CANCELADO")
    destaque = pagina.locator("#reposicao-lista li")
    expect(destaque).to_have_count(1)
    expect(destaque).to_contain_text("2026-7")
    expect(pagina.locator("#anuncio")).to_contain_text("Devolver à prateleira")
    assert pagina.title().startswith("(1)")

    outra_aba = contexto.new_page()
    abrir(outra_aba, servidor)
    expect(outra_aba.locator("#reposicao-lista li")).to_have_count(1)

    destaque.get_by_role("button", name="Já devolvi à prateleira o pedido 2026-7").click()
    expect(destaque).to_have_count(1)  # one press is not enough: it cannot be undone
    destaque.get_by_role("button", name=re.compile("^Confirmar que")).click()
    expect(pagina.locator("#reposicao")).to_be_hidden()
    expect(outra_aba.locator("#reposicao")).to_be_hidden()
    pagina.reload()
    expect(coluna(pagina, "CANCELADO")).to_be_visible()
    expect(pagina.locator("#reposicao")).to_be_hidden()


def test_mais_reposicoes_do_que_cabem_aparecem_conforme_se_confirma(
    servidor: Servidor, mudar: Mudar, pagina: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("painel.consultas.REPOSICOES_NO_MAXIMO", 2)
    for numero in (1, 2, 3):
        mudar(f"2026-{numero}", "PENDENTE", "SEPARADO", ha_s=60)
        mudar(f"2026-{numero}", "SEPARADO", "CANCELADO", ha_s=30 - numero)
    abrir(pagina, servidor)
    destaque = pagina.locator("#reposicao-lista li")
    expect(destaque).to_have_count(2)
    expect(pagina.locator("#reposicao-total")).to_have_text("2+")
    assert pagina.title().startswith("(2+)")

    destaque.get_by_role("button", name="Já devolvi à prateleira o pedido 2026-3").click()
    destaque.get_by_role("button", name=re.compile("^Confirmar que")).click()

    expect(destaque.filter(has_text="2026-1")).to_have_count(1)
    expect(pagina.locator("#reposicao-total")).to_have_text("2")


def test_linha_do_tempo_de_um_pedido(servidor: Servidor, mudar: Mudar, pagina: Page, fotografar: Fotografar) -> None:
    povoar(mudar)
    abrir(pagina, servidor)
    pagina.locator("[data-pedido='2026-1055']").click()
    dialogo = pagina.get_by_role("dialog", name="Pedido 2026-1055")
    expect(dialogo.locator("h3")).to_have_text(["Pendente → Separado", "Separado → Cancelado"])
    expect(dialogo.get_by_text("Devolver à prateleira")).to_be_visible()
    fotografar(pagina, "painel-linha-do-tempo")
    pagina.keyboard.press("Escape")
    expect(dialogo).to_be_hidden()
    expect(pagina.locator("[data-pedido='2026-1055']")).to_be_focused()


def test_linha_do_tempo_aberta_acompanha_o_pedido(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    mudar("P1", "PENDENTE", "SEPARADO", ha_s=30)
    abrir(pagina, servidor, "?loja=L001&pedido=P1")
    expect(pagina.locator("#detalhe h3")).to_have_count(1)
    mudar("P1", "SEPARADO", "EM_ENTREGA")
    expect(pagina.locator("#detalhe h3")).to_have_count(2)


def test_sem_rede_avisa_e_volta_sozinha(
    servidor: Servidor, mudar: Mudar, pagina: Page, contexto: BrowserContext, fotografar: Fotografar
) -> None:
    povoar(mudar)
    abrir(pagina, servidor)
    contexto.set_offline(True)
    expect(pagina.locator("#faixa")).to_contain_text("Sem conexão")
    expect(pagina.locator(".pedido").first).to_be_visible()  # what was known stays on screen
    fotografar(pagina, "painel-sem-rede")
    mudar("2026-1047", "SEPARADO", "EM_ENTREGA")
    contexto.set_offline(False)
    expect(pagina.locator("#faixa")).to_be_hidden()
    expect(coluna(pagina, "EM_ENTREGA").locator("[data-pedido='2026-1047']")).to_be_visible()


def test_erro_do_servidor_avisa_e_tenta_menos_vezes(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    povoar(mudar)
    abrir(pagina, servidor)
    servidor.fora_do_ar = True
    expect(pagina.locator("#faixa")).to_contain_text("Não foi possível atualizar")
    esperar(pagina, lambda: servidor.contar("mudancas", 503) >= 3)
    primeiro, segundo = servidor.intervalos("mudancas", 503)[:2]
    assert primeiro >= 2 * 0.75  # twice the wait, and up to a quarter less by chance
    assert segundo >= 4 * 0.75
    servidor.fora_do_ar = False
    pagina.get_by_role("button", name="Tentar agora").click()
    expect(pagina.locator("#faixa")).to_be_hidden()


def test_primeira_carga_com_erro_oferece_tentar(
    servidor: Servidor, mudar: Mudar, pagina: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERVALO_CONSULTA_MS", "30000")  # it would try again by itself, but not during this test
    mudar("P1", "PENDENTE", "SEPARADO")
    pagina.route("**/lojas/L001/pedidos?*", lambda rota: rota.fulfill(status=503, body="{}"))
    pagina.goto(servidor.url + "?loja=L001")
    expect(pagina.locator("#faixa")).to_contain_text("Não foi possível atualizar.")
    expect(pagina.get_by_text("Sem resposta")).to_be_visible()
    expect(pagina.locator("#carregando")).to_be_hidden()
    expect(pagina.locator("#vazio")).to_be_hidden()  # not knowing is not the same as there being none
    pagina.unroute("**/lojas/L001/pedidos?*")
    pagina.get_by_role("button", name="Tentar agora").click()
    expect(pagina.locator("[data-pedido=P1]")).to_be_visible()
    expect(pagina.locator("#faixa")).to_be_hidden()
    expect(pagina.get_by_text("Ao vivo")).to_be_visible()


def test_loja_sem_pedidos(servidor: Servidor, pagina: Page, fotografar: Fotografar) -> None:
    abrir(pagina, servidor, "?loja=L999")
    expect(pagina.get_by_text("Nenhum movimento nesta loja ainda")).to_be_visible()
    fotografar(pagina, "painel-vazio")


def test_pergunta_a_loja_quando_nao_sabe(servidor: Servidor, pagina: Page) -> None:
    pagina.goto(servidor.url)
    campo = pagina.get_by_label("Código da loja")
    expect(campo).to_be_focused()
    campo.fill("loja com espaço")
    campo.press("Enter")
    expect(pagina.get_by_text("Use letras, números, hífen ou sublinhado.")).to_be_visible()
    campo.fill("L001")
    campo.press("Enter")
    expect(pagina.get_by_text("Loja L001")).to_be_visible()


def test_pergunta_pouco_quando_nada_muda_e_nada_quando_escondida(
    servidor: Servidor, mudar: Mudar, pagina: Page
) -> None:
    povoar(mudar)
    abrir(pagina, servidor)
    esperar(pagina, lambda: servidor.contar("mudancas", 304) >= 3)  # nothing changed: an answer without a body
    assert min(servidor.intervalos("mudancas")) >= 0.95  # asked every second; timers round
    no_caminho: list[Route] = []

    def segurar(rota: Route) -> None:
        no_caminho.append(rota)

    pagina.route("**/mudancas?*", segurar)
    esperar(pagina, lambda: len(no_caminho) == 1)
    perguntas = servidor.contar("mudancas")
    esconder(pagina, True)
    no_caminho[0].continue_()
    pagina.unroute("**/mudancas?*")
    esperar(pagina, lambda: servidor.contar("mudancas") == perguntas + 1)
    pagina.wait_for_timeout(2_500)
    assert servidor.contar("mudancas") == perguntas + 1
    with pagina.expect_response("**/mudancas?*"):
        esconder(pagina, False)
    esconder(pagina, True)  # between two questions
    pagina.wait_for_timeout(2_500)
    assert servidor.contar("mudancas") == perguntas + 2


def test_texto_do_pedido_nunca_vira_html(servidor: Servidor, pagina: Page, contexto: BrowserContext) -> None:
    """Even if something got past the validation of ids and into the table."""
    ataque = "<img src=x onerror=window.invadida=1>"
    gravar = {
        nome: {"S": valor}
        for nome, valor in {
            "PK": "PEDIDO#X", "SK": "ATUAL", "pedidoId": ataque, "loja": "L001", "status": "SEPARADO",
            "statusAnterior": ataque, "em": "2026-01-01T00:00:00.000Z", "gravadoEm": "2026-01-01T00:00:00.000Z",
            "sequencia": "1", "GSI1PK": "LOJA#L001", "GSI1SK": "2026-01-01T00:00:00.000Z#X",
        }.items()
    }  # fmt: skip
    comum_aws.dynamodb().put_item(TableName="painel_operacao", Item=gravar)
    abrir(pagina, servidor)
    expect(pagina.locator(".pedido .numero")).to_have_text(ataque)
    assert pagina.locator("#quadro img").count() == 0
    assert pagina.evaluate("window.invadida") is None


def test_no_telefone_cabe_e_funciona(servidor: Servidor, mudar: Mudar, pagina: Page, fotografar: Fotografar) -> None:
    povoar(mudar)
    pagina.set_viewport_size({"width": 360, "height": 740})
    abrir(pagina, servidor)
    assert pagina.evaluate("document.documentElement.scrollWidth") <= 360
    fotografar(pagina, "painel-telefone", full_page=True)
    pequenos = pagina.evaluate(
        "[...document.querySelectorAll('button:not(.elo)')].filter(b => b.offsetParent && b.offsetHeight < 44).length"
    )
    assert pequenos == 0
    pagina.locator("[data-pedido='2026-1055']").click()
    expect(pagina.get_by_role("dialog")).to_be_visible()
    assert pagina.evaluate("document.getElementById('detalhe').offsetWidth") == 360
    fotografar(pagina, "painel-telefone-pedido")


def test_so_com_o_teclado(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    mudar("P1", "PENDENTE", "SEPARADO", ha_s=60)
    mudar("P1", "SEPARADO", "CANCELADO", ha_s=30)
    abrir(pagina, servidor)
    pagina.keyboard.press("Tab")
    expect(pagina.get_by_text("Pular para os pedidos")).to_be_focused()
    pagina.keyboard.press("Enter")
    pagina.keyboard.press("Tab")  # the order of the restock list
    pagina.keyboard.press("Tab")
    expect(pagina.get_by_role("button", name="Já devolvi à prateleira o pedido P1")).to_be_focused()
    pagina.keyboard.press("Enter")
    expect(pagina.get_by_role("button", name=re.compile("^Confirmar que"))).to_be_focused()
    pagina.keyboard.press("Enter")
    expect(pagina.locator("#reposicao")).to_be_hidden()


def test_redesenhar_nao_tira_o_foco(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    mudar("P1", "PENDENTE", "SEPARADO", ha_s=60)
    abrir(pagina, servidor)
    pagina.locator("[data-pedido=P1]").focus()
    mudar("P2", "PENDENTE", "SEPARADO")
    expect(pagina.locator("[data-pedido=P2]")).to_be_visible()
    expect(pagina.locator("[data-pedido=P1]")).to_be_focused()


@pytest.mark.parametrize("esquema", ["light", "dark"])
@pytest.mark.parametrize("tela", ["painel", "detalhe", "loja"])
def test_acessivel(
    servidor: Servidor, mudar: Mudar, pagina: Page, esquema: Any, tela: str, fotografar: Fotografar
) -> None:
    """axe-core finds nothing against WCAG 2 A and AA, contrast included."""
    povoar(mudar)
    pagina.emulate_media(color_scheme=esquema, reduced_motion="reduce")
    if tela == "loja":
        pagina.goto(servidor.url)
        expect(pagina.get_by_label("Código da loja")).to_be_visible()
    else:
        abrir(pagina, servidor, "?loja=L001" + ("&pedido=2026-1055" if tela == "detalhe" else ""))
        if tela == "detalhe":
            expect(pagina.locator("#detalhe h3")).to_have_count(2)
    if esquema == "dark" and tela != "loja":
        fotografar(pagina, f"painel-escuro-{tela}")
    # Run by the debugger, not by the page: its policy would refuse the script.
    achados = Axe().run(pagina, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]})
    assert achados.violations_count == 0, achados.generate_report()


def test_mais_antigos_por_pagina(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    for numero in range(105):
        mudar(f"P{numero:03d}", "PENDENTE", "SEPARADO", ha_s=200 - numero)
    abrir(pagina, servidor)
    expect(pagina.locator(".pedido")).to_have_count(100)
    pagina.get_by_role("button", name="Mostrar pedidos mais antigos").click()
    expect(pagina.locator(".pedido")).to_have_count(105)
    expect(pagina.locator("#mais")).to_be_hidden()


@pytest.mark.parametrize(("outras", "um_minuto"), [(120, True), (210, False)], ids=["lista-de-novo", "incompleta"])
def test_ausencia_longa_nao_deixa_status_antigo_na_tela(
    servidor: Servidor, mudar: Mudar, pagina: Page, outras: int, um_minuto: bool
) -> None:
    """More changes than a page holds: what lies behind it is loaded again, never shown as it was."""
    mudar("ALVO", "PENDENTE", "SEPARADO", gravado_ha_s=600)
    abrir(pagina, servidor)
    expect(coluna(pagina, "SEPARADO").locator("[data-pedido=ALVO]")).to_be_visible()
    esconder(pagina, True)
    mudar("ALVO", "SEPARADO", "EM_ENTREGA", gravado_ha_s=300)
    mudar("NUNCA-VISTO", "PENDENTE", "SEPARADO", gravado_ha_s=300)
    for numero in range(outras):
        mudar(f"P{numero:03d}", "PENDENTE", "SEPARADO")
    if um_minuto:
        passar_um_minuto(pagina)
    esconder(pagina, False)
    expect(pagina.locator(f"[data-pedido=P{outras - 1:03d}]")).to_be_visible()
    expect(pagina.locator("[data-pedido=ALVO]")).to_have_count(0)
    while pagina.locator("#mais").is_visible():
        pagina.locator("#mais:enabled").click()
        expect(pagina.locator("#mais")).to_be_enabled()
    expect(coluna(pagina, "EM_ENTREGA").locator("[data-pedido=ALVO]")).to_be_visible()
    expect(pagina.locator("[data-pedido=NUNCA-VISTO]")).to_be_visible()
    expect(pagina.locator(".pedido")).to_have_count(outras + 2)


def test_listar_de_novo_sem_lacuna_mantem_o_que_foi_carregado(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    for numero in range(105):
        mudar(f"P{numero:03d}", "PENDENTE", "SEPARADO", gravado_ha_s=200 - numero)
    abrir(pagina, servidor)
    pagina.get_by_role("button", name="Mostrar pedidos mais antigos").click()
    expect(pagina.locator(".pedido")).to_have_count(105)
    mudar("NOVO", "PENDENTE", "SEPARADO")
    with pagina.expect_response("**/L001/pedidos?*"):
        passar_um_minuto(pagina)
    expect(pagina.locator("[data-pedido=NOVO]")).to_be_visible()
    expect(pagina.locator(".pedido")).to_have_count(106)
    expect(pagina.locator("#mais")).to_be_hidden()


def cem_novos(mudar: Mudar) -> None:
    """As many orders as a page holds, all newer than what was written more than 200 s ago."""
    for numero in range(100):
        mudar(f"P{numero:03d}", "PENDENTE", "SEPARADO", gravado_ha_s=200 - numero)


@pytest.mark.parametrize("pelo", ["endereco", "botao"])
def test_filtro_acha_os_que_estao_alem_da_primeira_pagina(
    servidor: Servidor, mudar: Mudar, pagina: Page, pelo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERVALO_CONSULTA_MS", "30000")  # pressing a filter does not wait for the next question
    for numero in range(102):
        mudar(f"VELHO{numero:03d}", "SEPARADO", "PENDENTE", gravado_ha_s=900 - numero)
    for numero in range(20):
        mudar(f"OUTRO{numero:03d}", "EM_ENTREGA", "ENTREGUE", gravado_ha_s=500 - numero)
    cem_novos(mudar)
    abrir(pagina, servidor, "?loja=L001" + ("&status=PENDENTE" if pelo == "endereco" else ""))
    pendentes = pagina.get_by_role("button", name=re.compile("^Pendente"))
    if pelo == "botao":
        expect(pendentes).to_have_text("Pendente0+")
        pendentes.click()
    expect(coluna(pagina, "PENDENTE").locator(".pedido")).to_have_count(100)
    expect(pendentes).to_have_text("Pendente100+")
    pagina.get_by_role("button", name="Mostrar pedidos mais antigos").click()
    expect(coluna(pagina, "PENDENTE").locator(".pedido")).to_have_count(102)
    expect(pendentes).to_have_text("Pendente102")
    expect(pagina.locator("#mais")).to_be_hidden()
    pagina.get_by_role("button", name=re.compile("^Todos")).click()
    expect(pagina.locator("#mais")).to_be_visible()  # of the other statuses nothing older was asked
    mudar("VELHO000", "PENDENTE", "SEPARADO")
    esconder(pagina, True)
    esconder(pagina, False)
    expect(coluna(pagina, "SEPARADO").locator("[data-pedido=VELHO000]")).to_be_visible()


def test_status_impossivel_no_endereco_e_ignorado(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    mudar("VELHO", "SEPARADO", "PENDENTE", gravado_ha_s=900)
    cem_novos(mudar)
    abrir(pagina, servidor, "?loja=L001&status=<b>")
    expect(pagina.locator(".pedido")).to_have_count(100)


def test_procura_diz_onde_procurou_e_abre_o_numero_inteiro(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    mudar("VELHO", "SEPARADO", "PENDENTE", gravado_ha_s=900)
    cem_novos(mudar)
    abrir(pagina, servidor)
    campo = pagina.get_by_label("Procurar pelo número do pedido")
    campo.fill("VELHO")
    expect(pagina.get_by_text("Nenhum pedido com este filtro entre os 100 carregados")).to_be_visible()
    dialogo = pagina.get_by_role("dialog", name="Pedido VELHO")
    pagina.get_by_role("button", name="Abrir o pedido VELHO").click()
    expect(dialogo.locator("h3")).to_have_text(["Separado → Pendente"])
    pagina.keyboard.press("Escape")
    expect(dialogo).to_be_hidden()
    campo.press("Enter")
    expect(dialogo.locator("h3")).to_have_count(1)
    pagina.keyboard.press("Escape")
    expect(campo).to_be_focused()
    pagina.get_by_role("button", name="Mostrar pedidos mais antigos").click()
    expect(pagina.locator(".pedido")).to_have_count(1)
    campo.fill("não é número")
    expect(pagina.get_by_text("Nenhum pedido com este filtro", exact=True)).to_be_visible()
    expect(pagina.locator("#vazio-abrir")).to_be_hidden()


def test_pedido_aberto_nao_cala_os_avisos(
    servidor: Servidor, mudar: Mudar, pagina: Page, contexto: BrowserContext
) -> None:
    """A modal makes everything outside it inert: what speaks has to be inside while it is open, and back afterwards."""
    mudar("P1", "PENDENTE", "SEPARADO", ha_s=60)
    mudar("P2", "PENDENTE", "SEPARADO", ha_s=60)
    abrir(pagina, servidor, "?loja=L001&pedido=P1")
    dialogo = pagina.get_by_role("dialog", name="Pedido P1")
    expect(dialogo.locator("h3")).to_have_count(1)
    expect(pagina.locator("#detalhe-fechar")).to_be_focused()
    mudar("P2", "SEPARADO", "CANCELADO")
    expect(dialogo.get_by_role("status")).to_contain_text("Devolver à prateleira")
    contexto.set_offline(True)
    expect(dialogo.get_by_role("alert")).to_contain_text("Sem conexão")
    contexto.set_offline(False)
    expect(pagina.locator("#faixa")).to_be_hidden()
    pagina.keyboard.press("Escape")
    expect(dialogo).to_be_hidden()
    contexto.set_offline(True)
    expect(pagina.locator("header + #faixa")).to_contain_text("Sem conexão")
    expect(pagina.locator("main + #anuncio")).to_have_count(1)


def test_loja_recusada_fecha_o_pedido_aberto(servidor: Servidor, mudar: Mudar, pagina: Page) -> None:
    mudar("P1", "PENDENTE", "SEPARADO")
    abrir(pagina, servidor, "?loja=L001&pedido=P1")
    expect(pagina.locator("#detalhe h3")).to_have_count(1)
    recusa = {"status": 403, "json": {"detail": "Seu acesso não inclui esta loja."}}
    pagina.route("**/lojas/L001/mudancas?*", lambda rota: rota.fulfill(**recusa))
    expect(pagina.get_by_text("Seu acesso não inclui esta loja.")).to_be_visible()
    expect(pagina.locator("#detalhe")).to_be_hidden()
    expect(pagina.get_by_label("Código da loja")).to_be_focused()
