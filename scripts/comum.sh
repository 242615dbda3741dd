# shellcheck shell=bash
# Sourced by the other scripts: where the repository is and how it speaks.

RAIZ="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck disable=SC2034  # used by the scripts that source this file
VERSAO_MINIMA_TERRAFORM="1.11"

diz() { printf '\033[1m%s\033[0m\n' "$*"; }
avisa() { printf 'aviso: %s\n' "$*" >&2; }
falha() {
  printf 'erro: %s\n' "$*" >&2
  exit 1
}

# Becomes one of the commands that people run: a module and its arguments. Exit 2 says that it could not run.
opera() {
  cd "$RAIZ" || exit 2
  if [ ! -x .venv/bin/python ]; then
    echo "O ambiente de desenvolvimento não existe. Rode: make setup" >&2
    exit 2
  fi
  exec .venv/bin/python -m "$@"
}

# Succeeds when $1 is a Python from 3.11 to 3.14 that can make environments. A pyenv shim
# for a version that is not active exists on PATH but fails when run, so every candidate is run.
python_serve() {
  "$1" - >/dev/null 2>&1 <<'FIM'
import sys
import ensurepip, venv  # Debian splits these into python3-venv
sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
FIM
}

# Prints the interpreter to build environments with: $PYTHON when given, else the first usable
# one on PATH, else among pyenv's and uv's own installations.
acha_python() {
  local candidato
  if [ -n "${PYTHON:-}" ]; then
    command -v "$PYTHON" >/dev/null 2>&1 || falha "PYTHON=$PYTHON não existe; aponte para um Python de 3.11 a 3.14."
    python_serve "$PYTHON" || falha "PYTHON=$PYTHON é $("$PYTHON" -V 2>&1 | head -1) ou não tem venv/ensurepip; é preciso um Python de 3.11 a 3.14 com venv."
    "$PYTHON" -c 'import sys; print(sys.executable)'
    return
  fi
  for candidato in python3 python3.13 python3.12 python3.11 python3.14 python \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-4]*/bin/python3 \
    "$HOME"/.local/share/uv/python/cpython-3.1[1-4]*/bin/python3; do
    if command -v "$candidato" >/dev/null 2>&1 && python_serve "$candidato"; then
      "$candidato" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  falha "nenhum Python de 3.11 a 3.14 com venv foi encontrado ($(python3 -V 2>&1 | head -1)); instale um ou aponte com PYTHON=/caminho/python3."
}

exige_terraform() {
  command -v terraform >/dev/null 2>&1 ||
    falha "terraform não está no PATH; instale o Terraform $VERSAO_MINIMA_TERRAFORM ou mais novo (developer.hashicorp.com/terraform/install) e repita."
}
