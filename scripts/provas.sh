#!/usr/bin/env bash
# Runs the proofs on a deployed target: scripts/provas.sh [saga|painel|fila] [numbers…] [--alvo local|localstack|aws]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=.venv/bin/python
if [ ! -x "$python" ]; then
  echo "O ambiente de desenvolvimento não existe. Rode: make setup" >&2
  exit 2
fi
# Only the queue's peak needs the load generator.
case " $* " in *" fila "*) scripts/preparar.sh carga >/dev/null ;; esac
exec "$python" -m provas "$@"
