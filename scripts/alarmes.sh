#!/usr/bin/env bash
# Alarms that are ringing: scripts/alarmes.sh [--alvo local|localstack|aws]
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
opera operacao.alarmes "$@"
