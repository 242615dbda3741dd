"""Least privilege, proved one action and one resource at a time on the deployed roles.

Removing any single action makes its probe fail, visibly; so no role holds an action that nothing needs, and no
function works by a permission nobody wrote down.
"""

from __future__ import annotations

import pytest
import sondas_conferencias  # noqa: F401 - registers its probes
import sondas_fila  # noqa: F401 - registers its probes
import sondas_painel  # noqa: F401 - registers its probes
import sondas_saga  # noqa: F401 - registers its probes
from permissoes import SONDAS, Permissao, estreita, permissoes, recursos_de, sem, sonda_de

from provas.alvo import Alvo

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]  # every permission of every role, taken away and given back

# Systems whose probes are written: their functions' names begin so.
COM_SONDAS = (
    "ffv-lab-fila-",
    "cesta-",
    "ffv-lab-consumidor-pedidos",
    "ffv-lab-painel-",
    "ffv-lab-polling-",
    "ffv-lab-reconciliar-",
    "ffv-lab-reprocessar-",
)


@pytest.fixture(scope="module")
def implantadas(alvo: Alvo) -> list[Permissao]:
    if alvo.nome != "local":
        pytest.skip("IAM changes take effect at once only on the local engine, and no account's roles are edited")
    return [p for p in permissoes(alvo) if alvo.funcao(p.funcao).startswith(COM_SONDAS)]


def test_every_deployed_permission_has_a_probe(implantadas):
    assert implantadas
    assert [str(p) for p in implantadas if sonda_de(p) is None] == []


def test_every_probe_still_has_its_permission(implantadas, alvo):
    usadas = {(p.funcao, p.acao) for p in implantadas}
    ligadas = alvo.saida("funcoes")
    assert [c for c in SONDAS if (c[0], c[1]) not in usadas and c[0] in ligadas] == []


def test_each_probe_fails_without_its_permission_and_works_with_it(implantadas, alvo, bancada, subtests):
    for p in implantadas:
        tentar = sonda_de(p)
        if tentar is None:
            continue
        with subtests.test(str(p)):
            with sem(alvo, p):
                negado = tentar(bancada)
            permitido = tentar(bancada)
            assert permitido.funcionou, f"with the permission: {permitido.visto}"
            assert not negado.funcionou, f"worked without {p}: {negado.visto}"


def test_each_narrowed_resource_makes_a_probe_fail(implantadas, alvo, bancada, subtests):
    """Pointing a statement elsewhere, one resource at a time: some probe of the statement fails."""
    sentencas: dict[tuple[str, int], list[Permissao]] = {}
    for p in implantadas:
        sentencas.setdefault((p.papel, p.sentenca), []).append(p)
    for grupo in sentencas.values():
        sondas = list(dict.fromkeys(filter(None, map(sonda_de, grupo))))
        for recurso in recursos_de(alvo, grupo[0]):
            with subtests.test(f"{grupo[0].funcao} {recurso}"), estreita(alvo, grupo[0], recurso):
                assert any(not tentar(bancada).funcionou for tentar in sondas), f"{recurso} can be narrowed unseen"
