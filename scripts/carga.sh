#!/usr/bin/env bash
# The same peak against the synchronous design and the queue: scripts/carga.sh [--total 3000] [--concorrencia 20]
# [--desenhos sincrono,fila] [--atraso-gateway 700] [--alvo local]; --help lists everything.
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
[ -x .venv/bin/python ] || falha "o ambiente de desenvolvimento não existe; rode: make setup"
scripts/preparar.sh carga >/dev/null
exec .venv/bin/python -m operacao.carga "$@"
