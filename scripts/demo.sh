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

passo ambientes scripts/preparar.sh
passo motor .venv/bin/python -m engine up
passo artefato .venv/bin/python -m engine build --alvo local
passo deploy .venv/bin/python -m engine deploy --alvo local
# The queue's proofs are minutes of load and of waiting for redeliveries: scripts/provas.sh fila.
sistemas=()
for sistema in saga painel; do
  if compgen -G "provas/$sistema/p*.py" >/dev/null; then sistemas+=("$sistema"); fi
done
passo provas scripts/provas.sh "${sistemas[@]}" --alvo local
passo estoque .venv/bin/python -m engine semear

diz "== tempos"
printf '%s\n' "${tempos[@]}" "$(printf '%-10s %4s s' total "$SECONDS")"
.venv/bin/python -m engine resumo
