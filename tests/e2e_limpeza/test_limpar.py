"""make limpar on an engine of its own: interrupted, repeated, and with nothing left of what was deployed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_motor import Engine, free_port

from engine.settings import ROOT, build_root
from operacao import limpar

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


class Implantado(Engine):
    """An engine with the whole system on it."""

    def comando(self, *argumentos: str) -> subprocess.Popen[str]:
        env = os.environ | {"CESTA_DIR_BUILD": str(self.build), "CESTA_PORTA_MOTOR": str(self.port), "ALVO": "local"}
        return subprocess.Popen(
            [sys.executable, "-m", *argumentos],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def terminar(self, *argumentos: str) -> tuple[int, str]:
        processo = self.comando(*argumentos)
        dito, _ = processo.communicate(timeout=300)
        return processo.returncode, dito

    def recursos(self) -> int:
        """How many resources the state still describes."""
        estado = self.build / "local/terraform.tfstate"
        return len(json.loads(estado.read_text() or "{}").get("resources", []))


@pytest.fixture
def implantado(tmp_path: Path) -> Iterator[Implantado]:
    motor = Implantado(tmp_path / "build", free_port())
    (motor.build / "local").mkdir(parents=True)
    for feito in build_root().glob("local/artefato*"):  # what this checkout built is what would be built again
        (motor.build / "local" / feito.name).write_bytes(feito.read_bytes())
    subiu = motor.run("up")
    try:
        assert subiu.returncode == 0, subiu.stderr
        estado, dito = motor.terminar("engine", "deploy")
        assert estado == 0, dito
        yield motor
    finally:
        motor.run("down")


def test_interrupted_and_repeated_it_leaves_nothing(implantado: Implantado) -> None:
    sqs = implantado.client("sqs")
    mensagem = {"pedidoId": "P1", "compensacoesPendentes": ["EstornarPagamento"]}
    for fila in (limpar.FILA_HUMANA, limpar.DLQS[-1]):
        sqs.send_message(QueueUrl=sqs.get_queue_url(QueueName=fila)["QueueUrl"], MessageBody=json.dumps(mensagem))
    todos = implantado.recursos()
    assert todos > 100
    conta = limpar.Conta("sa-east-1", f"http://127.0.0.1:{implantado.port}")
    achadas = limpar.sobras(conta)
    assert {sobra.split()[0] for sobra in achadas if not sobra.startswith(("arn:", "/"))} == {
        "papel", "alarme", "quadro", "máquina", "API", "mapeamento", "agenda", "parâmetro",
    }  # fmt: skip
    assert {sobra.split(":")[2] for sobra in achadas if sobra.startswith("arn:")} >= {
        "dynamodb", "lambda", "s3", "sns", "sqs",
    }  # fmt: skip

    interrompido = implantado.comando("operacao.limpar")
    limite = time.monotonic() + 120
    while implantado.recursos() == todos and time.monotonic() < limite:
        assert interrompido.poll() is None, interrompido.communicate()[0]
        time.sleep(0.1)
    os.killpg(interrompido.pid, signal.SIGINT)  # what Ctrl-C does
    dito, _ = interrompido.communicate(timeout=120)
    assert interrompido.returncode not in (0, None), dito
    assert 0 < implantado.recursos() < todos
    [export] = implantado.build.glob("export/local/*")
    for fila in (limpar.FILA_HUMANA, limpar.DLQS[-1]):
        assert json.loads((export / f"{fila}.jsonl").read_text())["corpo"] == json.dumps(mensagem)

    estado, dito = implantado.terminar("operacao.limpar")
    assert estado == 0, dito
    assert "nada restou" in dito
    # A service that delivers late makes its log group again, after everything is gone.
    implantado.client("logs").create_log_group(logGroupName="/aws/vendedlogs/states/cesta-saga-pedido")

    estado, dito = implantado.terminar("operacao.limpar")
    assert estado == 0, dito
    assert "apagado: /aws/vendedlogs/states/cesta-saga-pedido" in dito

    etiqueta = implantado.client("resourcegroupstaggingapi").get_resources(
        TagFilters=[{"Key": "Projeto", "Values": list(limpar.PROJETOS)}]
    )
    assert etiqueta["ResourceTagMappingList"] == []

    feito_a_mao = implantado.client("sns").create_topic(Name="feito-a-mao", Tags=[{"Key": "Projeto", "Value": "cesta"}])
    estado, dito = implantado.terminar("operacao.limpar")
    assert estado == 1, dito
    assert feito_a_mao["TopicArn"] in dito
