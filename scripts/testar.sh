#!/usr/bin/env bash
# Every test, with the local engine up and the system deployed for the end-to-end ones.
# Stops the engine only if it started it. usage: scripts/testar.sh [pytest arguments]
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
exige_terraform

engine() { .venv/bin/python -m engine "$@"; }

# Cheapest first: a wrong rule shows before the engine is asked anything.
niveis=()
for nivel in unit asl models faults browser; do
  if compgen -G "tests/$nivel/test_*.py" >/dev/null; then niveis+=("tests/$nivel"); fi
done
export TF_CLI_CONFIG_FILE
TF_CLI_CONFIG_FILE="$(engine terraform-rc)"
testes() { .venv/bin/python -m pytest -q "$@"; }

if ! engine status >/dev/null 2>&1; then
  trap 'engine down' EXIT
  engine up
fi
engine deploy --alvo local

if [ $# -gt 0 ]; then
  testes -m "e2e or not e2e" "${niveis[@]}" tests/infra tests/e2e "$@"
  exit
fi
# The tests of the deployed system wait more than they compute, so the others run beside them. What is deployed exists
# once: its own tests run one after the other, in one process.
saidas="$(mktemp -d)"
testes -m "not e2e" tests/infra >"$saidas/infra" 2>&1 &
infra=$!
testes -m "not e2e" "${niveis[@]}" >"$saidas/outros" 2>&1 &
outros=$!
falhou=0
testes -m e2e "${niveis[@]}" tests/e2e || falhou=1
wait "$outros" || falhou=1
wait "$infra" || falhou=1
cat "$saidas/outros" "$saidas/infra"
rm -rf "$saidas"
exit $falhou
