#!/usr/bin/env bash
# Orders that wait for a person: scripts/intervencao.sh [--alvo local] listar | mostrar PEDIDO |
# reprocessar PEDIDO…|--todos [--sim] | encerrar PEDIDO --motivo "…" [--estoque liberar|baixar|nada] | exportar
set -euo pipefail
# shellcheck source=scripts/comum.sh
source "$(dirname "${BASH_SOURCE[0]}")/comum.sh"
opera operacao.intervencao "$@"
