##@ Medidas
.PHONY: bench contagens

bench: setup ## A distância de um piso que não faz nada, no motor local implantado, e com localstack-setup feito; escreve docs/bench.md (RODADAS=, PEDIDOS=)
	@PYTHONPATH=.:lambdas $(PY) -m medidas.bench $(if $(RODADAS),--rodadas $(call palavra,$(RODADAS))) $(if $(PEDIDOS),--pedidos $(call palavra,$(PEDIDOS)))

contagens: setup ## Regrava medidas/contagens.json: o que um pedido custa em transições, unidades, invocações e bytes de log
	@PYTHONPATH=.:lambdas $(PY) -m tests.medidas.contagens --gravar
