# `make` alone lists what there is. Targets with ALVO= work on local (default), localstack or aws.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

ALVO ?= local
PY := .venv/bin/python
ENGINE := $(PY) -m engine

.PHONY: help setup build local-up local-down local-status local-logs

help: ## Mostra esta lista
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z-]*:.*## / {printf "  \033[36m%-14s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Preparar e construir
setup: ## Cria os ambientes Python a partir das travas (PYTHON=... escolhe o interpretador)
	@scripts/preparar.sh

build: setup ## Constrói o artefato das funções em build/<alvo>/artefato.zip (ALVO=, RUNTIME=, ARQUITETURA=)
	@$(ENGINE) build --alvo $(ALVO)

##@ Motor local
local-up: setup ## Inicia o motor local (CESTA_PORTA_MOTOR=4566)
	@$(ENGINE) up

local-down: ## Para o motor local e descarta o estado dele
	@if [ -x $(PY) ]; then $(ENGINE) down; else echo "motor nunca iniciado"; fi

local-status: ## Diz se o motor local está no ar
	@$(ENGINE) status

local-logs: ## Mostra o fim do registro do motor local
	@$(ENGINE) logs

-include mk/*.mk
