#!/usr/bin/env bash
# What a month costs: scripts/custo.sh [--pedidos-dia 3200] [--falhas 2] [--franquia]; without a volume, writes docs/custo.md.
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
[ -x .venv/bin/python ] || falha "o ambiente de desenvolvimento não existe; rode: make setup"
exec .venv/bin/python -m operacao.custo "$@"
