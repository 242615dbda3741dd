#!/usr/bin/env bash
# Removes what was built. The state of what is deployed in an account is the only record of it, and what make limpar
# exported is the only copy: both stay.
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ"
if [ -x .venv/bin/python ]; then .venv/bin/python -m engine down >/dev/null; fi
rm -rf .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis
[ -d build ] || exit 0
find build -mindepth 1 -maxdepth 1 ! -name aws ! -name localstack ! -name export -exec rm -rf {} +
for alvo in aws localstack; do
  [ -d "build/$alvo" ] || continue
  find "build/$alvo" -mindepth 1 -maxdepth 1 ! -name '*.tfstate*' -exec rm -rf {} +
  rmdir "build/$alvo" 2>/dev/null || avisa "build/$alvo/*.tfstate foi mantido: é o registro do que está implantado."
done
