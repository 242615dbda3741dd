#!/usr/bin/env bash
# Orders that failed 5 times: scripts/dlq.sh [--alvo local] listar | mostrar ID | devolver ID…|--todas |
# descartar ID --motivo "…"
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
opera operacao.dlq "$@"
