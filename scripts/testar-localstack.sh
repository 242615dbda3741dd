#!/usr/bin/env bash
# The stricter engine's own end-to-end tests: starts it, deploys, tests, takes it down. usage: [pytest arguments]
# A machine without what it needs is told so, loudly, and passes (exit 0) unless EXIGIR_LOCALSTACK=1.
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
exige_terraform

localstack() { .venv/bin/python -m engine.localstack "$@"; }
if ! falta="$(localstack pode 2>&1)"; then
  printf '\n!!! OS TESTES DO SEGUNDO MOTOR NÃO RODARAM: %s\n\n' "$falta" >&2
  [ "${EXIGIR_LOCALSTACK:-}" = 1 ] && exit 2
  exit 0
fi
if ! localstack status >/dev/null 2>&1; then
  trap 'localstack down' EXIT
  localstack up
fi
.venv/bin/python -m engine deploy --alvo localstack
.venv/bin/python -m pytest -q -m e2e tests/e2e_localstack "$@"
