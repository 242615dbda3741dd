"""``python -m conformidade --alvo local|localstack|aws [probe …]``: look, compare with the record, or record it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from botocore.exceptions import BotoCoreError, ClientError

from conformidade import sondas_mapeamentos, sondas_servicos, sondas_sfn
from conformidade.alvo import ALVOS, Alvo, descartavel
from conformidade.linhas import POR_SONDA
from conformidade.registro import SONDAS
from conformidade.tabela import PAGINA, PASTA, Visto, pagina, vistos
from engine.settings import build_root, shown

# Importing them registers the probes.
MODULOS = (sondas_sfn, sondas_mapeamentos, sondas_servicos)
AO_MESMO_TEMPO = 6
COMO_LIGAR = {
    "local": "Rode: make local-up",
    "localstack": "Rode: make localstack-up",
    "aws": "Confira a rede, as credenciais e as permissões, e repita.",
}


def sondar(alvo: Alvo, nomes: Sequence[str]) -> dict[str, str]:
    """Run the probes, several at a time; the answer of each by name. One that breaks answers with its exception."""
    # Shared by many probes: made before they run, so that two do not make it at once.
    _ = alvo.conta, alvo.funcao_comum, alvo.papel_maquina

    def uma(nome: str) -> tuple[str, str, float]:
        comeco = time.monotonic()
        try:
            resposta = SONDAS[nome](alvo)
        except Exception as erro:  # noqa: BLE001 - the other probes still have something to say
            resposta = f"probe failed: {type(erro).__name__}: {erro}".splitlines()[0][:200]
        return nome, resposta, time.monotonic() - comeco

    respostas: dict[str, str] = {}
    with ThreadPoolExecutor(AO_MESMO_TEMPO) as executor:
        for futura in as_completed([executor.submit(uma, nome) for nome in nomes]):
            nome, resposta, duracao = futura.result()
            igual = "como na AWS" if resposta == POR_SONDA[nome].na_aws else "DIFERE da AWS"
            print(f"  [{len(respostas) + 1}/{len(nomes)}] {nome}: {resposta} ({igual}, {duracao:.0f} s)", flush=True)
            respostas[nome] = resposta
    return respostas


def main(argumentos: Sequence[str] | None = None) -> int:
    """0 when everything is as recorded (or was recorded now), 1 when something differs or a probe failed, 2 when the
    target could not be probed at all.
    """
    leitor = argparse.ArgumentParser(prog="python -m conformidade", description="Sonda o comportamento de um alvo.")
    leitor.add_argument("--alvo", choices=ALVOS, default="local")
    leitor.add_argument("--aceitar", action="store_true", help="registra o que foi visto e refaz docs/fidelity.md")
    leitor.add_argument("sondas", nargs="*", help="só as sondas cujo nome contém um destes textos")
    opcoes = leitor.parse_args(argumentos)
    nomes = [n for n in SONDAS if not opcoes.sondas or any(texto in n for texto in opcoes.sondas)]
    if not nomes:
        print("Nenhuma sonda tem esse nome; há: " + ", ".join(SONDAS), file=sys.stderr)
        return 2

    comeco = time.monotonic()
    try:
        with descartavel(opcoes.alvo) as alvo:
            versao = alvo.versao()
            print(f"Sondando {opcoes.alvo} ({versao}): {len(nomes)} sondas", flush=True)
            respostas = sondar(alvo, nomes)
    except (ClientError, BotoCoreError) as erro:
        print(f"erro: {opcoes.alvo} não pôde ser sondado ({erro}). {COMO_LIGAR[opcoes.alvo]}", file=sys.stderr)
        return 2
    print(f"Tudo apagado; {time.monotonic() - comeco:.0f} s ao todo.")

    registrado = vistos().get(opcoes.alvo)
    antes = dict(registrado.respostas) if registrado else {}
    # A probe that broke says nothing about the target: it never becomes the record.
    quebradas = [n for n, r in respostas.items() if r.startswith("probe failed")]
    Visto(versao, respostas).gravar(build_root() / "conformidade" / f"{opcoes.alvo}.json")
    if quebradas:
        print(f"{len(quebradas)} sonda(s) não terminaram: {', '.join(quebradas)}", file=sys.stderr)
        return 1
    diferentes = [n for n in nomes if respostas[n] != antes.get(n)]
    if opcoes.aceitar:
        conhecidas = {n: r for n, r in antes.items() if n in SONDAS}
        Visto(versao, {**conhecidas, **respostas}).gravar(PASTA / f"{opcoes.alvo}.json")
        PAGINA.write_text(pagina(vistos()), encoding="utf-8")
        print(
            f"Registrado em {shown(PASTA)}/{opcoes.alvo}.json; {shown(PAGINA)} refeito ({len(diferentes)} mudança(s))."
        )
        return 0
    for nome in diferentes:
        print(
            f"  mudou: {nome}: estava {antes.get(nome, 'sem registro')!r}, agora {respostas[nome]!r}", file=sys.stderr
        )
    if diferentes:
        print("Difere do registrado. Se a mudança é esperada: make conformance ACEITAR=1 ALVO=…", file=sys.stderr)
        return 1
    print("Igual ao que está registrado.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
