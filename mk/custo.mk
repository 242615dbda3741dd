##@ Custo
.PHONY: custo

custo: ## O custo do mês por componente: PEDIDOS_DIA=3200 [FALHAS=2] [FRANQUIA=1]; sem PEDIDOS_DIA, escreve docs/custo.md
	@scripts/custo.sh $(if $(PEDIDOS_DIA),--pedidos-dia $(call palavra,$(PEDIDOS_DIA))) $(if $(FALHAS),--falhas $(call palavra,$(FALHAS))) $(if $(FRANQUIA),--franquia $(call palavra,$(FRANQUIA)))
