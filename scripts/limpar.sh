#!/usr/bin/env bash
# Exports what people may need, destroys everything and proves that nothing is left: scripts/limpar.sh [--alvo local]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -x .venv/bin/python ]; then
  echo "O ambiente de desenvolvimento não existe. Rode: make setup" >&2
  exit 2
fi
exec .venv/bin/python -m operacao.limpar "$@"
