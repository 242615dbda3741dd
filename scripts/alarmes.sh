#!/usr/bin/env bash
# Alarms that are ringing: scripts/alarmes.sh [--alvo local|localstack|aws]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -x .venv/bin/python ]; then
  echo "O ambiente de desenvolvimento não existe. Rode: make setup" >&2
  exit 2
fi
exec .venv/bin/python -m operacao.alarmes "$@"
