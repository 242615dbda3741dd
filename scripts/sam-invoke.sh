#!/usr/bin/env bash
# One function in AWS's own container image, against the local engine. usage: scripts/sam-invoke.sh FN [event.json]
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
docker info >/dev/null 2>&1 || falha "sam local invoke precisa de um Docker em execução; sem Docker, use make invoke FN=$1."
.venv/bin/python -m engine sam-invoke "$1" --evento "${2:-}"
