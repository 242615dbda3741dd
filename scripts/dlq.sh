#!/usr/bin/env bash
# Orders that failed 5 times: scripts/dlq.sh [--alvo local] listar | mostrar ID | devolver ID…|--todas |
# descartar ID --motivo "…"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -x .venv/bin/python ]; then
  echo "O ambiente de desenvolvimento não existe. Rode: make setup" >&2
  exit 2
fi
exec .venv/bin/python -m operacao.dlq "$@"
