#!/usr/bin/env bash
# Makes the five Python environments from their locks. Each one carries the hash of the lock it was
# made from, so a second run does nothing. usage: scripts/preparar.sh [carga] [auditoria] (PYTHON=... to choose one)
# Only the load test and the audit of the locks need environments of their own, so those are made when asked for.
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"

# environment:lock
AMBIENTES=(.venv:dev .venvs/motor:motor .venvs/runtime:runtime .venvs/sam:sam .venvs/checkov:checkov)
for extra in "$@"; do
  [[ "$extra" = carga || "$extra" = auditoria ]] || falha "ambiente desconhecido: $extra (existem carga e auditoria)."
  AMBIENTES+=(".venvs/$extra:$extra")
done

resumo_da_trava() { sha256sum "requirements/$1.txt" 2>/dev/null | cut -d' ' -f1 || shasum -a 256 "requirements/$1.txt" | cut -d' ' -f1; }

pronto() { # environment lock
  [ -x "$1/bin/python" ] && "$1/bin/python" -c '' 2>/dev/null && [ "$(cat "$1/.trava" 2>/dev/null)" = "$(resumo_da_trava "$2")" ]
}

# pip ignores a half-made environment; a fresh one is cheaper than a doubt.
cria() { # environment
  if ! "$1/bin/python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$1"
    "$python" -m venv "$1"
  fi
}

instala() { # environment lock
  if [ -n "$uv" ] && "$uv" pip install --quiet --require-hashes --python "$1/bin/python" -r "requirements/$2.txt"; then
    return
  fi
  [ -z "$uv" ] || avisa "uv não conseguiu instalar requirements/$2.txt; repetindo com pip"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "requirements/$2.txt"
}

faltam=()
for par in "${AMBIENTES[@]}"; do
  pronto "${par%%:*}" "${par##*:}" || faltam+=("$par")
done
if [ ${#faltam[@]} -eq 0 ]; then
  echo "ambientes Python em dia"
else
  python="$(acha_python)"
  diz "preparando ${#faltam[@]} ambiente(s) com $("$python" -V) ($python)"
  uv=""
  if ! pronto .venvs/uv uv; then
    cria .venvs/uv
    if .venvs/uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt; then
      resumo_da_trava uv >.venvs/uv/.trava
    else
      avisa "uv não pôde ser instalado; usando pip, que é mais lento"
    fi
  fi
  if .venvs/uv/bin/uv --version >/dev/null 2>&1; then uv=".venvs/uv/bin/uv"; fi
  for par in "${faltam[@]}"; do
    ambiente="${par%%:*}" trava="${par##*:}"
    inicio=$SECONDS
    cria "$ambiente"
    instala "$ambiente" "$trava"
    resumo_da_trava "$trava" >"$ambiente/.trava"
    echo "  $ambiente <- requirements/$trava.txt ($((SECONDS - inicio)) s)"
  done
fi
command -v terraform >/dev/null 2>&1 ||
  avisa "terraform não está no PATH: make deploy, lint, test e demo precisam do Terraform $VERSAO_MINIMA_TERRAFORM ou mais novo (developer.hashicorp.com/terraform/install)."
