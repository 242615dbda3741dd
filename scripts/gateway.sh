#!/usr/bin/env bash
# The gateway stand-in, down and up again: scripts/gateway.sh indisponivel|normal [--alvo local|localstack|aws]
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
opera operacao.gateway "$@"
