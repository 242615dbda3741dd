##@ Painel
.PHONY: movimento painel-carga provas-painel reprocessar reconciliar test-navegador

movimento: ## Gera movimento de loja para o painel se mexer (ALVO=, DURACAO=120, RITMO=2, LOJAS=L001,L002)
	@scripts/movimento.sh --alvo $(call palavra,$(ALVO)) $(if $(DURACAO),--duracao $(call palavra,$(DURACAO))) $(if $(RITMO),--ritmo $(call palavra,$(RITMO))) $(if $(LOJAS),--lojas $(call palavra,$(LOJAS)))

provas-painel: ## Só as provas do painel sobre o que está implantado (ALVO=)
	@scripts/provas.sh painel --alvo $(call palavra,$(ALVO))

painel-carga: ## 20.000 transições em 2.000 pedidos pelo consumidor, com falhas, aqui mesmo (TRANSICOES=, PEDIDOS=)
	@PYTHONPATH=lambdas $(PY) -m tests.models.carga_painel $(if $(TRANSICOES),--transicoes $(call palavra,$(TRANSICOES))) $(if $(PEDIDOS),--pedidos $(call palavra,$(PEDIDOS)))

reprocessar: ## Traz de volta o que o mapeamento descartou (ALVO=)
	@scripts/reprocessar.sh --alvo $(call palavra,$(ALVO))

reconciliar: ## Compara a origem com o painel e marca lacunas (ALVO=, LOJA=)
	@scripts/reconciliar.sh --alvo $(call palavra,$(ALVO)) $(if $(LOJA),--loja $(call palavra,$(LOJA)))

test-navegador: ## Testes da página num Chromium de verdade; telas em build/telas/
	@$(PY) -m pytest -q tests/browser
