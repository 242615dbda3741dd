#!/usr/bin/env bash
# Exports what people may need, destroys everything and proves that nothing is left: scripts/limpar.sh [--alvo local]
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
opera operacao.limpar "$@"
