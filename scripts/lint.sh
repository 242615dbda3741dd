#!/usr/bin/env bash
# Every static check, each with its name; all run, and the exit status says whether all passed.
set -uo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
cd "$RAIZ" || exit 1
exige_terraform

VENV=.venv/bin
falhas=()

passo() { # name command...
  local nome="$1" inicio=$SECONDS saida
  shift
  if saida="$("$@" 2>&1)"; then
    printf '  ok     %s (%s s)\n' "$nome" "$((SECONDS - inicio))"
  else
    printf '  FALHOU %s\n%s\n' "$nome" "$saida"
    falhas+=("$nome")
  fi
}

# Its notes list every overload of boto3's client, hundreds of lines for one error.
tipos() {
  local saida estado=0
  saida="$("$VENV/mypy" "$@")" || estado=$?
  grep -v ': note: ' <<<"$saida"
  return $estado
}

# Module by module, so that one wrong file names itself.
linguagem_de_estados() {
  local arquivo ruim=0
  for arquivo in asl/*.json; do
    "$VENV/statelint" "$arquivo" || ruim=1
  done
  return $ruim
}

arquivos_bash() {
  local arquivo ruim=0
  for arquivo in scripts/*.sh .ci/run; do
    bash -n "$arquivo" || ruim=1
  done
  "$VENV/shellcheck" -x scripts/*.sh .ci/run || ruim=1
  return $ruim
}

# The template's intrinsics are only known to SAM once the region is set; no call leaves the machine.
modelo_sam() {
  AWS_DEFAULT_REGION=us-east-1 SAM_CLI_TELEMETRY=0 __SAM_CLI_APP_DIR=build/lint/sam \
    .venvs/sam/bin/python .venvs/sam/bin/sam validate --lint --template-file template.yaml
}

# Skips are written in each resource, with their reason. Nothing is fetched: no policy, no mapping.
checkov_sem_rede() {
  local saida estado=0
  saida="$(BC_SKIP_MAPPING=TRUE CKV_IGNORE_HIDDEN_DIRECTORIES=true .venvs/checkov/bin/python .venvs/checkov/bin/checkov \
    --skip-download --quiet --compact "$@" 2>&1)" || estado=$?
  printf '%s\n' "$saida"
  # A file it cannot read is a file it did not check.
  ! grep -qiE 'error parsing|parsing errors: [1-9]' <<<"$saida" && return $estado
}

# The template is what SAM runs on this machine and where Terraform reads handlers: the functions of an account are made in
# terraform/modules/funcao, where the DLQ (116), VPC (117) and concurrency (115) checks are answered one by one.
checkov_modelo() {
  checkov_sem_rede --framework cloudformation -f template.yaml --skip-check CKV_AWS_115,CKV_AWS_116,CKV_AWS_117
}

passo "ruff check" "$VENV/ruff" check .
passo "ruff format" "$VENV/ruff" format --check .
passo "mypy (lambdas)" tipos
passo "mypy (engine)" tipos engine
for pacote in provas operacao conformidade medidas; do
  if compgen -G "$pacote/*.py" >/dev/null; then passo "mypy ($pacote)" tipos "$pacote"; fi
done
passo "travas de lambdas" "$VENV/python" -m engine requisitos --checar
passo "cfn-lint" "$VENV/cfn-lint" template.yaml
passo "sam validate" modelo_sam
if compgen -G "asl/*.json" >/dev/null; then passo "statelint" linguagem_de_estados; fi
passo "terraform fmt" terraform -chdir=terraform fmt -check -recursive -diff
passo "terraform validate" "$VENV/python" -m engine validate
passo "checkov (terraform)" checkov_sem_rede --framework terraform -d terraform --skip-path /tests/ # no test is deployed
passo "checkov (template)" checkov_modelo
passo "bash" arquivos_bash

if [ ${#falhas[@]} -gt 0 ]; then
  falha "${#falhas[@]} verificação(ões) falharam: ${falhas[*]}"
fi
echo "lint: tudo certo"
