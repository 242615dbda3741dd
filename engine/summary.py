"""What to try next, printed at the end of the demo."""

from __future__ import annotations

import json

from engine.settings import EngineError, build_root, shown, target_dir


def summary(target: str = "local") -> None:
    """Print the API's address, a curl that works, where the report is and how to stop.

    Raises
    ------
    EngineError
        If nothing is deployed.
    """
    try:
        outputs = json.loads((target_dir(target) / "saidas.json").read_text())
        api = str(outputs["url_api"]).rstrip("/")
    except (OSError, ValueError, KeyError):
        raise EngineError(f"nada implantado em {target}; rode make deploy.") from None
    order = {"sku": "CAFE-500G", "quantidade": 1, "valorCentavos": 14000, "cartaoToken": "tok-ok"}
    report = build_root() / "provas" / "relatorio.html"
    print(f"\nAPI:        {api}")
    if report.exists():
        print(f"Relatório:  {shown(report)}")
    for name, label in (("url_painel", "Painel"), ("url_api_fila", "Fila")):
        if outputs.get(name):
            print(f"{label + ':':<12}{outputs[name]}")
    print("Faça um pedido e acompanhe:")
    print(f"  curl -i -X POST '{api}/pedidos' -H 'Content-Type: application/json' -d '{json.dumps(order)}'")
    print(f"  curl '{api}/pedidos/<pedidoId>'")
    print("Parar tudo: make local-down")
