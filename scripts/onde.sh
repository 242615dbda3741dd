#!/usr/bin/env bash
# The whole story of one order: scripts/onde.sh PEDIDO [--alvo local|localstack|aws] [--horas 72]
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
opera operacao.onde "$@"
