#!/usr/bin/env bash
# Orders that wait for a person: scripts/intervencao.sh [--alvo local] listar | mostrar PEDIDO |
# reprocessar PEDIDO…|--todos [--sim] | encerrar PEDIDO --motivo "…" [--estoque liberar|baixar|nada] | exportar
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -x .venv/bin/python ]; then
  echo "O ambiente de desenvolvimento não existe. Rode: make setup" >&2
  exit 2
fi
exec .venv/bin/python -m operacao.intervencao "$@"
