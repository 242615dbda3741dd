"""The panel's API: what it answers, to whom, and that its description says the same."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from jsonschema import validate
from openapi_spec_validator import validate as validar_openapi
from openapi_spec_validator.readers import read_from_filename

from comum import aws as comum_aws
from painel import api, consultas
from painel.gravacao import Gravador
from painel.reconciliacao import Lacuna, PedidoNaOrigem
from painel.repositorio import RepositorioPainel
from painel.transicao import ler_transicao
from tests.browser.servidor import evento_http
from tests.models.fonte_painel import EPOCA, criar_tabela_painel, registro

RAIZ = Path(__file__).resolve().parents[2]
OPENAPI = RAIZ / "docs" / "openapi-painel.yaml"
MODULO = RAIZ / "terraform" / "modules" / "painel" / "api.tf"


class _SemTopico:
    def publicar(self, alerta: Any) -> None:
        return


@pytest.fixture
def painel(aws: None, monkeypatch: pytest.MonkeyPatch) -> Gravador:
    """The table, the API's settings and a way to write transitions."""
    for nome, valor in {
        "TABELA_PAINEL": criar_tabela_painel(),
        "AUTENTICACAO": "nenhuma",
        "URL_LOGIN": "",
        "CLIENTE_LOGIN": "",
        "INTERVALO_CONSULTA_MS": "2500",
    }.items():
        monkeypatch.setenv(nome, valor)
    return Gravador(RepositorioPainel(comum_aws.dynamodb(), "painel_operacao"), _SemTopico())


def escrever(painel: Gravador, pedido: str, de: str, para: str, numero: int, loja: str = "L001") -> None:
    transicao = ler_transicao(registro(pedido, de, para, numero, loja=loja, epoca=EPOCA + numero))
    assert transicao is not None
    painel.aplicar(transicao)


def pedir(
    caminho: str,
    consulta: str = "",
    metodo: str = "GET",
    claims: dict[str, str] | None = None,
    **cabecalhos: str,
) -> tuple[int, dict[str, Any], dict[str, str]]:
    resposta = api.handler(evento_http(metodo, caminho, consulta, cabecalhos, claims), None)
    tipo = resposta["headers"].get("Content-Type", "")
    corpo = json.loads(resposta["body"]) if "json" in tipo and resposta["body"] else {}
    conferir_contrato(metodo, caminho, resposta["statusCode"], corpo)
    return resposta["statusCode"], corpo, resposta["headers"]


def conferir_contrato(metodo: str, caminho: str, status: int, corpo: dict[str, Any]) -> None:
    """Every answer of every test here is what docs/openapi-painel.yaml promises."""
    descricao = read_from_filename(str(OPENAPI))[0]
    for modelo, rotas in descricao["paths"].items():
        if metodo.lower() in rotas and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", modelo), caminho):
            respostas = rotas[metodo.lower()]["responses"]
            assert str(status) in respostas, f"{metodo} {modelo} answered {status}, which is not described"
            resposta = respostas[str(status)]
            if "$ref" in resposta:
                resposta = descricao["components"]["responses"][resposta["$ref"].rsplit("/", 1)[1]]
            for tipo, conteudo in resposta.get("content", {}).items():
                if "json" in tipo:
                    validate(
                        corpo,
                        {**_sem_nullable(conteudo["schema"]), "components": _sem_nullable(descricao["components"])},
                    )
            return


def _sem_nullable(esquema: Any) -> Any:
    """OpenAPI 3.0 says ``nullable``; JSON Schema says a list of types."""
    if isinstance(esquema, list):
        return [_sem_nullable(item) for item in esquema]
    if not isinstance(esquema, dict):
        return esquema
    traduzido = {nome: _sem_nullable(valor) for nome, valor in esquema.items() if nome != "nullable"}
    if esquema.get("nullable"):
        traduzido["type"] = [esquema["type"], "null"]
    return traduzido


def test_lista_a_loja_por_paginas_e_por_status(painel: Gravador) -> None:
    for numero in range(1, 8):
        escrever(painel, f"P{numero}", "PENDENTE", "SEPARADO" if numero % 2 else "ENTREGUE", numero)
    escrever(painel, "OUTRA", "PENDENTE", "SEPARADO", 20, loja="L002")
    vistos: list[str] = []
    consulta, paginas = "limite=3", 0
    while True:
        status, corpo, _ = pedir("/painel/lojas/L001/pedidos", consulta)
        assert status == 200
        vistos += [pedido["pedidoId"] for pedido in corpo["pedidos"]]
        paginas += 1
        if corpo["proxima"] is None:
            break
        consulta = "limite=3&cursor=" + corpo["proxima"].replace("#", "%23")
    assert sorted(vistos) == [f"P{numero}" for numero in range(1, 8)]
    assert paginas == 3
    _, corpo, _ = pedir("/painel/lojas/L001/pedidos", "status=ENTREGUE")
    assert sorted(pedido["pedidoId"] for pedido in corpo["pedidos"]) == ["P2", "P4", "P6"]


def test_mudancas_traz_so_o_que_mudou_e_304_quando_nada_muda(painel: Gravador) -> None:
    escrever(painel, "P1", "PENDENTE", "SEPARADO", 1)
    _, lista, _ = pedir("/painel/lojas/L001/pedidos")
    desde = f"desde={lista['desde']}"
    status, corpo, cabecalhos = pedir("/painel/lojas/L001/mudancas", desde)
    assert status == 200
    assert corpo["desde"] == lista["desde"]
    repetida = pedir("/painel/lojas/L001/mudancas", desde, **{"if-none-match": cabecalhos["ETag"]})
    assert repetida[0] == 304
    escrever(painel, "P2", "PENDENTE", "SEPARADO", 2)
    status, corpo, _ = pedir("/painel/lojas/L001/mudancas", desde, **{"if-none-match": cabecalhos["ETag"]})
    assert status == 200
    assert "P2" in [pedido["pedidoId"] for pedido in corpo["pedidos"]]


def test_mudanca_que_chega_atrasada_nao_se_perde(painel: Gravador, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another shard's change happened earlier and was written later: asking by when it happened would miss it."""
    escrever(painel, "P1", "PENDENTE", "SEPARADO", 100)
    _, lista, _ = pedir("/painel/lojas/L001/pedidos")
    escrever(painel, "P2", "PENDENTE", "SEPARADO", 1)  # 99 s before P1's
    _, corpo, _ = pedir("/painel/lojas/L001/mudancas", f"desde={lista['desde']}")
    assert "P2" in [pedido["pedidoId"] for pedido in corpo["pedidos"]]


def test_mudancas_demais_manda_listar_de_novo(painel: Gravador, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("painel.consultas.MUDANCAS_NO_MAXIMO", 2)
    for numero in range(1, 5):
        escrever(painel, f"P{numero}", "PENDENTE", "SEPARADO", numero)
    _, corpo, _ = pedir("/painel/lojas/L001/mudancas", "desde=2026-01-01T00:00:00.000Z")
    assert corpo["incompleta"]


def test_pedido_com_a_linha_do_tempo(painel: Gravador) -> None:
    escrever(painel, "P1", "PENDENTE", "SEPARADO", 999_999_999_999_999_999_999 % 1000)
    escrever(painel, "P1", "SEPARADO", "CANCELADO", 1000)
    status, corpo, _ = pedir("/painel/lojas/L001/pedidos/P1")
    assert status == 200
    assert corpo["status"] == "CANCELADO"
    assert [(p["de"], p["para"]) for p in corpo["historico"]] == [("PENDENTE", "SEPARADO"), ("SEPARADO", "CANCELADO")]
    assert corpo["historico"][1]["alerta"] == "PUBLICADO"


def test_reconhecer_uma_vez_e_para_sempre(painel: Gravador) -> None:
    escrever(painel, "P1", "SEPARADO", "CANCELADO", 1)
    _, lista, _ = pedir("/painel/lojas/L001/pedidos")
    ordem = lista["reposicoes"][0]["ordem"]
    rota = f"/painel/lojas/L001/pedidos/P1/reposicoes/{ordem}"
    assert pedir(rota, metodo="PUT")[1] == {"situacao": "reconhecida"}
    primeira = pedir("/painel/lojas/L001/pedidos/P1")[1]["historico"][0]["reconhecidoEm"]
    assert pedir(rota, metodo="PUT")[1] == {"situacao": "jaReconhecida"}
    assert pedir("/painel/lojas/L001/pedidos/P1")[1]["historico"][0]["reconhecidoEm"] == primeira
    assert pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"] == []


def test_reconhecido_nao_volta_quando_o_registro_e_reenviado(painel: Gravador) -> None:
    escrever(painel, "P1", "SEPARADO", "CANCELADO", 1)
    ordem = pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"][0]["ordem"]
    pedir(f"/painel/lojas/L001/pedidos/P1/reposicoes/{ordem}", metodo="PUT")
    escrever(painel, "P1", "SEPARADO", "CANCELADO", 1)
    assert pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"] == []


def test_transicao_perdida_antes_de_uma_entregue_aparece_como_lacuna(painel: Gravador) -> None:
    """SEPARADO → CANCELADO was lost and CANCELADO → PENDENTE came: both sides end equal, the goods maybe packed."""
    escrever(painel, "P1", "PENDENTE", "SEPARADO", 1)
    for _ in range(2):  # delivered twice
        escrever(painel, "P1", "CANCELADO", "PENDENTE", 3)
    passos = [(p["tipo"], p["de"], p["para"]) for p in pedir("/painel/lojas/L001/pedidos/P1")[1]["historico"]]
    assert passos == [
        ("TRANSICAO", "PENDENTE", "SEPARADO"),
        ("LACUNA", "SEPARADO", "CANCELADO"),
        ("TRANSICAO", "CANCELADO", "PENDENTE"),
    ]
    [reposicao] = pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"]
    assert (reposicao["pedidoId"], reposicao["certeza"]) == ("P1", "TALVEZ")
    pedir(f"/painel/lojas/L001/pedidos/P1/reposicoes/{reposicao['ordem']}", metodo="PUT")
    escrever(painel, "P1", "CANCELADO", "PENDENTE", 3)
    assert pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"] == []
    # It comes back from the on-failure queue: the history is whole again.
    escrever(painel, "P1", "SEPARADO", "CANCELADO", 2)
    tipos = [p["tipo"] for p in pedir("/painel/lojas/L001/pedidos/P1")[1]["historico"]]
    assert tipos == ["TRANSICAO"] * 3


@pytest.mark.parametrize("morre_em", ["atualizar_atual", "pedir_conferencia"])
def test_salto_notado_mesmo_que_o_processo_morra_antes_de_contar(
    painel: Gravador, monkeypatch: pytest.MonkeyPatch, morre_em: str
) -> None:
    """The count of a process that died is gone with it: the record sent again counts."""
    escrever(painel, "P1", "PENDENTE", "SEPARADO", 1)
    with monkeypatch.context() as quebrado:
        quebrado.setattr(RepositorioPainel, morre_em, None)
        with pytest.raises(TypeError):
            escrever(painel, "P1", "CANCELADO", "PENDENTE", 3)
    painel.contagem.clear()
    escrever(painel, "P1", "CANCELADO", "PENDENTE", 3)
    assert painel.contagem["TransicoesComSalto"] == 1
    assert [r["certeza"] for r in pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"]] == ["TALVEZ"]


def test_salto_que_nao_passou_por_cancelado_nao_pede_conferencia(painel: Gravador) -> None:
    escrever(painel, "P1", "PENDENTE", "SEPARADO", 1)
    escrever(painel, "P1", "EM_ENTREGA", "ENTREGUE", 3)
    assert painel.contagem["TransicoesComSalto"] == 1
    assert pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"] == []


def test_reposicoes_certas_antes_das_que_talvez_as_novas_primeiro_e_por_pagina(
    painel: Gravador, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consultas, "REPOSICOES_NO_MAXIMO", 2)
    for numero in (1, 2, 3):
        escrever(painel, f"P{numero}", "SEPARADO", "CANCELADO", numero)
    repositorio = RepositorioPainel(comum_aws.dynamodb(), "painel_operacao")
    for numero in (1, 2):  # newer than every certain one
        na_origem = PedidoNaOrigem(f"T{numero}", "L001", "CANCELADO", f"2026-02-0{numero}T00:00:00.000Z")
        assert repositorio.gravar_lacuna(Lacuna(na_origem, None, None), "2026-02-03T00:00:00.000Z")
    _, pagina, _ = pedir("/painel/lojas/L001/pedidos")
    mudancas = pedir("/painel/lojas/L001/mudancas", "desde=2026-01-01T00:00:00.000Z")[1]
    assert mudancas["proximaReposicoes"] == pagina["proximaReposicoes"]
    vistas = [linha["pedidoId"] for linha in pagina["reposicoes"]]
    while pagina["proximaReposicoes"]:
        assert len(pagina["reposicoes"]) == 2
        cursor = quote(pagina["proximaReposicoes"], safe="")
        status, pagina, _ = pedir("/painel/lojas/L001/reposicoes", f"cursor={cursor}")
        assert status == 200
        vistas += [linha["pedidoId"] for linha in pagina["reposicoes"]]
    assert vistas == ["P3", "P2", "P1", "T2", "T1"]


@pytest.mark.parametrize("cursor", ["x", "2%23x%23P1%23T1", "2%232026-01-01T00:00:00.000Z%23P1%23X"])
def test_cursor_de_reposicoes_malformado(painel: Gravador, cursor: str) -> None:
    assert pedir("/painel/lojas/L001/reposicoes", f"cursor={cursor}")[0] == 400


@pytest.mark.parametrize(
    "rota",
    [
        "/painel/lojas/L002/pedidos/P1/reposicoes/T" + "1".zfill(40),  # another store's
        "/painel/lojas/L001/pedidos/P1/reposicoes/T" + "2".zfill(40),  # not a restock
        "/painel/lojas/L001/pedidos/P9/reposicoes/T" + "1".zfill(40),  # no such order
    ],
)
def test_nao_se_reconhece_o_que_nao_e_da_loja_ou_nao_existe(painel: Gravador, rota: str) -> None:
    escrever(painel, "P1", "SEPARADO", "CANCELADO", 1)
    escrever(painel, "P1", "CANCELADO", "PENDENTE", 2)
    assert pedir(rota, metodo="PUT")[0] == 404
    assert len(pedir("/painel/lojas/L001/pedidos")[1]["reposicoes"]) == 1


def test_pedido_de_outra_loja_nao_existe_aqui(painel: Gravador) -> None:
    escrever(painel, "P1", "PENDENTE", "SEPARADO", 1)
    assert pedir("/painel/lojas/L002/pedidos/P1")[0] == 404


@pytest.mark.parametrize(
    ("caminho", "consulta"),
    [
        ("/painel/lojas/L 1/pedidos", ""),
        ("/painel/lojas/" + "L" * 33 + "/pedidos", ""),
        ("/painel/lojas/L001/pedidos", "limite=0"),
        ("/painel/lojas/L001/pedidos", "limite=101"),
        ("/painel/lojas/L001/pedidos", "limite=abc"),
        ("/painel/lojas/L001/pedidos", "status=cancelado"),
        ("/painel/lojas/L001/pedidos", "cursor=xyz"),
        ("/painel/lojas/L001/mudancas", ""),
        ("/painel/lojas/L001/mudancas", "desde=ontem"),
        ("/painel/lojas/L001/mudancas", "desde=0001-01-01T00:00:00Z"),
        ("/painel/lojas/L001/pedidos/P%201", ""),
    ],
)
def test_entrada_ruim_e_recusada_em_portugues(painel: Gravador, caminho: str, consulta: str) -> None:
    status, corpo, cabecalhos = pedir(caminho, consulta)
    assert status == 400
    assert corpo["title"] == "Requisição inválida"
    assert cabecalhos["Content-Type"].startswith("application/problem+json")


def test_rota_que_nao_existe(painel: Gravador) -> None:
    resposta = api.handler(evento_http("GET", "/painel/nada"), None)
    assert resposta["statusCode"] == 404
    assert json.loads(resposta["body"])["title"] == "Não encontrado"


class TestComLogin:
    """With sign-in on, the store's routes answer only for the stores of the verified token."""

    @pytest.fixture(autouse=True)
    def _ligar(self, painel: Gravador, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AUTENTICACAO", "cognito")
        monkeypatch.setenv("URL_LOGIN", "https://cadencia.auth.sa-east-1.amazoncognito.com")
        monkeypatch.setenv("CLIENTE_LOGIN", "cliente-publico")
        escrever(painel, "P1", "SEPARADO", "CANCELADO", 1)

    @pytest.mark.parametrize(
        ("lojas", "status"),
        [("L001", 200), ("L000,L001", 200), ("*", 200), ("L002", 403), ("", 403), ("L00", 403), ("DESCONHECIDA", 403)],
    )
    def test_so_as_lojas_do_gerente(self, lojas: str, status: int) -> None:
        assert pedir("/painel/lojas/L001/pedidos", claims={"sub": "u1", "custom:lojas": lojas})[0] == status

    @pytest.mark.parametrize(
        ("metodo", "caminho"),
        [
            ("GET", "/painel/lojas/L001/pedidos"),
            ("GET", "/painel/lojas/L001/mudancas"),
            ("GET", "/painel/lojas/L001/pedidos/P1"),
            ("PUT", "/painel/lojas/L001/pedidos/P1/reposicoes/T" + "1".zfill(40)),
        ],
    )
    def test_sem_token_verificado_nada_se_ve(self, metodo: str, caminho: str) -> None:
        """Even if the authorizer were missing from the API."""
        assert pedir(caminho, metodo=metodo)[0] == 403

    def test_quem_reconheceu_e_um_identificador(self) -> None:
        claims = {"sub": "u-123", "custom:lojas": "L001", "email": "gerente@example.com"}
        ordem = "T" + "1".zfill(40)
        pedir(f"/painel/lojas/L001/pedidos/P1/reposicoes/{ordem}", metodo="PUT", claims=claims)
        chave = {"PK": {"S": "PEDIDO#P1"}, "SK": {"S": "TRANSICAO#" + "1".zfill(40)}}
        item = comum_aws.dynamodb().get_item(TableName="painel_operacao", Key=chave)["Item"]
        assert item["reconhecidoPor"]["S"] == "u-123"

    def test_a_pagina_pode_falar_com_o_login_e_com_mais_ninguem(self) -> None:
        _, _, cabecalhos = pedir("/painel")
        assert (
            "connect-src 'self' https://cadencia.auth.sa-east-1.amazoncognito.com;"
            in cabecalhos["Content-Security-Policy"]
        )
        assert pedir("/painel/configuracao")[1]["clienteLogin"] == "cliente-publico"


@pytest.mark.parametrize("caminho", ["/painel", "/painel/pagina.css", "/painel/pagina.js"])
def test_pagina_tem_as_guardas_e_nada_embutido(painel: Gravador, caminho: str) -> None:
    status, _, cabecalhos = pedir(caminho)
    assert status == 200
    politica = cabecalhos["Content-Security-Policy"]
    assert "default-src 'none'" in politica
    assert "unsafe" not in politica
    assert "frame-ancestors 'none'" in politica
    assert cabecalhos["X-Content-Type-Options"] == "nosniff"


def test_pagina_nao_tem_segredo_nem_codigo_embutido() -> None:
    pasta = RAIZ / "lambdas" / "painel" / "pagina"
    html = (pasta / "index.html").read_text(encoding="utf-8")
    programa = (pasta / "pagina.js").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|javascript:", html)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", programa)
    assert not re.search(r"AKIA|client_secret|\bsenha\b|password|api[-_]?key", html + programa, re.IGNORECASE)


def rotas_do_codigo() -> set[str]:
    return {
        f"{metodo} {re.sub('<(.+?)>', '{}', caminho)}"
        for rota in api.app._static_routes + api.app._dynamic_routes
        for metodo, caminho in [(rota.method, rota.path)]
    }


def sem_nomes(rotas: set[str]) -> set[str]:
    return {re.sub(r"\{\w+\}", "{}", rota) for rota in rotas}


def test_openapi_e_valido_e_descreve_exatamente_as_rotas() -> None:
    descricao = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))
    validar_openapi(descricao)
    descritas = {f"{metodo.upper()} {caminho}" for caminho, metodos in descricao["paths"].items() for metodo in metodos}
    assert sem_nomes(descritas) == rotas_do_codigo()


def test_terraform_publica_exatamente_as_rotas_e_protege_as_da_loja() -> None:
    texto = MODULO.read_text(encoding="utf-8")
    listas = dict(re.findall(r"rotas_(abertas|protegidas)\s*=\s*\[(.*?)\]", texto, re.S))
    abertas, protegidas = (set(re.findall(r'"([A-Z]+ [^"]+)"', listas[nome])) for nome in ("abertas", "protegidas"))
    assert sem_nomes(abertas | protegidas) == rotas_do_codigo()
    assert protegidas == {rota for rota in abertas | protegidas if "/lojas/" in rota}
    descricao = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))
    sem_token = {
        f"{metodo.upper()} {caminho}"
        for caminho, metodos in descricao["paths"].items()
        for metodo, operacao in metodos.items()
        if operacao.get("security") == []
    }
    assert sem_token == abertas
