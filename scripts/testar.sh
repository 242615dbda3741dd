#!/usr/bin/env bash
# Every test, with the local engine up and the system deployed for the end-to-end ones.
# Stops the engines it started. usage: scripts/testar.sh [pytest arguments]
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
exige_terraform

engine() { .venv/bin/python -m engine "$@"; }
PYTEST=(.venv/bin/python -m pytest -q)
porta_livre() {
  .venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# A second deployment of the same artifact, in a folder and on a port of its own.
build="${CESTA_DIR_BUILD:-build}"
segunda="$build/segunda" porta_da_segunda="$(porta_livre)"
na_segunda() { CESTA_DIR_BUILD="$segunda" CESTA_PORTA_MOTOR="$porta_da_segunda" "$@"; }

UNIDADES=(tests/unit)
MODELOS=(tests/asl tests/models tests/faults)
INFRA=(tests/infra)
NAVEGADOR=(tests/browser)
export TF_CLI_CONFIG_FILE
TF_CLI_CONFIG_FILE="$(engine terraform-rc)"

saidas="$(mktemp -d)" primeira_no_ar="" segunda_no_ar=""
# shellcheck disable=SC2329  # the trap invokes it
encerra() {
  # shellcheck disable=SC2046  # one word for each
  kill $(jobs -p) 2>/dev/null || true
  [ -z "$primeira_no_ar" ] || engine down
  [ -z "$segunda_no_ar" ] || na_segunda engine down >/dev/null
  rm -rf "$saidas"
}
trap encerra EXIT

if ! engine status >/dev/null 2>&1; then
  primeira_no_ar=1
  engine up
fi
if [ $# -gt 0 ]; then
  engine deploy --alvo local
  "${PYTEST[@]}" -m "e2e or not e2e" "${UNIDADES[@]}" "${MODELOS[@]}" "${INFRA[@]}" "${NAVEGADOR[@]}" tests/e2e "$@"
  exit
fi

# What is deployed mostly waits, so the tests that compute run beside it and give way to it. A deployment exists once:
# its tests run one after the other, and those that take the gateway away have a deployment of their own.
nice "${PYTEST[@]}" "${UNIDADES[@]}" >"$saidas/unidades" 2>&1 &
unidades=$!
nice "${PYTEST[@]}" "${MODELOS[@]}" >"$saidas/modelos" 2>&1 &
modelos=$!
nice "${PYTEST[@]}" "${INFRA[@]}" >"$saidas/infra" 2>&1 &
infra=$!
nice "${PYTEST[@]}" "${NAVEGADOR[@]}" >"$saidas/navegador" 2>&1 &
navegador=$!
engine build --alvo local
segunda_no_ar=1
(
  mkdir -p "$segunda/local"
  cp "$build"/local/artefato.* "$segunda/local/"
  na_segunda engine up
  na_segunda engine deploy --alvo local
  na_segunda "${PYTEST[@]}" -m incidente tests/e2e
) >"$saidas/incidentes" 2>&1 &
incidentes=$!
falhou=0
{ engine deploy --alvo local && "${PYTEST[@]}" -m "not incidente" tests/e2e; } || falhou=1
espera() { # part process
  wait "$2" || falhou=1
  cat "$saidas/$1"
}
espera incidentes "$incidentes"
espera unidades "$unidades"
espera modelos "$modelos"
espera infra "$infra"
espera navegador "$navegador"
exit $falhou
