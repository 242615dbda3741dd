#!/usr/bin/env bash
# Looks every locked package up among known vulnerabilities. usage: scripts/auditar.sh [pip-audit options]
# Exit 1: something was found, or a package could not be looked up (--strict: a skipped one is no pass); the lines say which.
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
scripts/preparar.sh auditoria >/dev/null
ruins=()
for trava in lambdas/requirements.txt requirements/*.txt; do
  diz "$trava"
  .venvs/auditoria/bin/python -m pip_audit --strict --disable-pip --no-deps --progress-spinner off -r "$trava" "$@" || ruins+=("$trava")
done
[ ${#ruins[@]} -eq 0 ] || falha "com vulnerabilidades, ou sem resposta de quem as conhece: ${ruins[*]}"
echo "auditoria: nada conhecido contra as travas"
