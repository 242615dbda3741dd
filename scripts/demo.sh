#!/usr/bin/env bash
# From nothing to proven: environments, engine, artifact, deploy, proofs; then how to try it by hand.
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
exige_terraform

tempos=()
passo() { # name command...
  local nome="$1" inicio=$SECONDS
  shift
  diz "== $nome"
  "$@" || falha "$nome falhou depois de $((SECONDS - inicio)) s."
  tempos+=("$(printf '%-10s %4s s' "$nome" "$((SECONDS - inicio))")")
}

passo ambientes scripts/preparar.sh carga
passo motor .venv/bin/python -m engine up
passo artefato .venv/bin/python -m engine build --alvo local
passo deploy .venv/bin/python -m engine deploy --alvo local
# The peak in small: the whole one (3,000 orders) takes minutes, `scripts/provas.sh fila 1` runs it.
export PROVA_PICO_TOTAL="${PROVA_PICO_TOTAL:-200}"
passo provas scripts/provas.sh saga painel fila --alvo local
passo estoque .venv/bin/python -m engine semear

diz "== tempos"
printf '%s\n' "${tempos[@]}" "$(printf '%-10s %4s s' total "$SECONDS")"
.venv/bin/python -m engine resumo
