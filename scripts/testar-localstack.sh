#!/usr/bin/env bash
# What only the stricter engine shows, as tests: starts it, deploys, tests, takes it down. usage: [pytest arguments]
# The proofs have their own command: make provas ALVO=localstack.
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
testes() { .venv/bin/python -m pytest -q -m e2e "$@"; }

if [ $# -gt 0 ]; then
  .venv/bin/python -m engine deploy --alvo localstack
  testes tests/e2e_localstack "$@"
  exit
fi
# The probes make what they look at and mostly wait: they run beside the deploy and the tests of what is deployed.
sondas="$(mktemp)"
testes tests/e2e_localstack/test_conformidade.py >"$sondas" 2>&1 &
outras=$!
falhou=0
{ .venv/bin/python -m engine deploy --alvo localstack &&
  testes tests/e2e_localstack --ignore tests/e2e_localstack/test_conformidade.py; } || falhou=1
wait "$outras" || falhou=1
cat "$sondas"
rm -f "$sondas"
exit $falhou
