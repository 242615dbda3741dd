#!/usr/bin/env bash
# usage: scripts/movimento.sh --help
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
opera operacao.movimento "$@"
