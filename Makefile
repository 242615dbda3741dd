# `make` alone lists what there is. Targets with ALVO= work on local (default), localstack or aws.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

ALVO ?= local
# Every system that has proofs; PROVAS="saga 3 5" narrows it.
PROVAS ?= $(patsubst provas/%/,%,$(dir $(wildcard provas/*/p1_*.py)))
PY := .venv/bin/python
ENGINE := $(PY) -m engine
# What was typed in a variable, as one word of which the shell runs nothing.
palavra = '$(subst ','\'',$(1))'

.PHONY: help demo setup build local-up local-down local-status local-logs semear deploy plano saidas migrar-estado provas destroy test test-rapido lint invoke sam-invoke clean

help: ## Mostra esta lista
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z-]*:.*## / {printf "  \033[36m%-14s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Começar
demo: ## Do zero ao provado: ambientes, motor, artefato, deploy e provas, com tempos e o que experimentar
	@scripts/demo.sh

##@ Preparar e construir
setup: ## Cria os ambientes Python a partir das travas (PYTHON=... escolhe o interpretador)
	@scripts/preparar.sh

build: setup ## Constrói o artefato das funções em build/<alvo>/artefato.zip (ALVO=, RUNTIME=, ARQUITETURA=)
	@$(ENGINE) build --alvo $(call palavra,$(ALVO))

##@ Motor local
local-up: setup ## Inicia o motor local (CESTA_PORTA_MOTOR=4566)
	@$(ENGINE) up

local-down: ## Para o motor local e descarta o estado dele
	@if [ -x $(PY) ]; then $(ENGINE) down; else echo "motor nunca iniciado"; fi

local-status: ## Diz se o motor local está no ar
	@$(ENGINE) status

local-logs: ## Mostra o fim do registro do motor local
	@$(ENGINE) logs

##@ Implantar e provar
deploy: setup ## Constrói e implanta com Terraform (ALVO=local|localstack|aws; aws pede confirmação)
	@$(ENGINE) deploy --alvo $(call palavra,$(ALVO))

plano: setup ## Mostra o que um deploy mudaria em ALVO, sem mudar nada
	@$(ENGINE) plano --alvo $(call palavra,$(ALVO))

saidas: setup ## Relê do estado as saídas de ALVO, numa máquina que não implantou
	@$(ENGINE) saidas --alvo $(call palavra,$(ALVO))

migrar-estado: setup ## Leva para o backend o estado que uma conta guardava nesta máquina (AMBIENTE=)
	@$(ENGINE) migrar-estado

provas: ## Roda as provas sobre o que está implantado (ALVO=, PROVAS="saga 3 5")
	@scripts/provas.sh $(PROVAS) --alvo $(call palavra,$(ALVO))

destroy: ## Destrói o que foi implantado em ALVO
	@$(ENGINE) destroy --alvo $(call palavra,$(ALVO))

semear: ## Põe alguns produtos no estoque do motor local, para pedidos à mão
	@$(ENGINE) semear

invoke: ## Roda uma função aqui, sem Docker: FN=criar_pedido [EVENTO=arquivo.json]
	@$(ENGINE) invoke $(call palavra,$(FN)) --evento $(call palavra,$(EVENTO))

sam-invoke: ## Roda uma função no contêiner da AWS (precisa de Docker): FN=criar_pedido [EVENTO=]
	@scripts/sam-invoke.sh $(call palavra,$(FN)) $(call palavra,$(EVENTO))

##@ Conferir
test: setup ## Todos os testes: unit, asl, models, infra e e2e no motor local (TESTES="-k nome")
	@scripts/testar.sh $(TESTES)

test-rapido: setup ## Só os testes que não usam o motor local (uns 5 min num núcleo)
	@$(PY) -m pytest -q -m "not e2e" $(TESTES)

lint: setup ## Todas as verificações estáticas
	@scripts/lint.sh

clean: ## Apaga o que foi construído; nunca o estado de uma conta AWS
	@scripts/limpar-build.sh

-include mk/*.mk
