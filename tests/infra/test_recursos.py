"""What is billed by the month whether or not an order comes is as much as medidas/contagens.json says."""

import json

from engine.settings import ROOT

from .conftest import Estado

CONTAGENS = ROOT / "medidas" / "contagens.json"


def recursos_cobrados(estado: Estado) -> dict[str, int]:
    """By kind, without the stand-ins that an account does not have."""

    def quantos(tipo: str) -> int:
        minimos = ("minimo", "sincrono", "polling")
        return sum(not any(nome in endereco for nome in minimos) for endereco in estado.do_tipo(tipo))

    mapeamentos = estado.do_tipo("aws_lambda_event_source_mapping").values()
    return {
        "agendas": quantos("aws_scheduler_schedule"),
        "alarmes": quantos("aws_cloudwatch_metric_alarm"),
        "filas_consumidas": sum(":sqs:" in mapeamento["event_source_arn"] for mapeamento in mapeamentos),
        "paineis": quantos("aws_cloudwatch_dashboard"),
    }


def test_no_resource_billed_by_the_month_appears_unnoticed(estado: Estado) -> None:
    registrados = json.loads(CONTAGENS.read_text())["recursos"]

    assert recursos_cobrados(estado) == registrados, (
        "if it is meant: write it in medidas/contagens.json, and make custo"
    )
