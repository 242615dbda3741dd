#!/usr/bin/env bash
# The whole story of one order: scripts/onde.sh PEDIDO [--alvo local|localstack|aws] [--horas 72]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -x .venv/bin/python ]; then
  echo "O ambiente de desenvolvimento não existe. Rode: make setup" >&2
  exit 2
fi
exec .venv/bin/python -m operacao.onde "$@"
