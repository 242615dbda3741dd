##@ Painel
.PHONY: movimento painel-carga provas-painel reprocessar reconciliar test-navegador

movimento: ## Gera movimento de loja para o painel se mexer (ALVO=, DURACAO=120, RITMO=2, LOJAS=L001,L002)
	@scripts/movimento.sh --alvo $(ALVO) $(if $(DURACAO),--duracao $(DURACAO)) $(if $(RITMO),--ritmo $(RITMO)) $(if $(LOJAS),--lojas $(LOJAS))

provas-painel: ## Só as provas do painel sobre o que está implantado (ALVO=)
	@scripts/provas.sh painel --alvo $(ALVO)

painel-carga: ## 20.000 transições em 2.000 pedidos pelo consumidor, com falhas, aqui mesmo (TRANSICOES=, PEDIDOS=)
	@PYTHONPATH=lambdas $(PY) -m tests.models.carga_painel $(if $(TRANSICOES),--transicoes $(TRANSICOES)) $(if $(PEDIDOS),--pedidos $(PEDIDOS))

reprocessar: ## Traz de volta o que o mapeamento descartou (ALVO=)
	@scripts/reprocessar.sh --alvo $(ALVO)

reconciliar: ## Compara a origem com o painel e marca lacunas (ALVO=, LOJA=)
	@scripts/reconciliar.sh --alvo $(ALVO) $(if $(LOJA),--loja $(LOJA))

test-navegador: ## Testes da página num Chromium de verdade; telas em build/telas/
	@$(PY) -m pytest -q tests/browser
