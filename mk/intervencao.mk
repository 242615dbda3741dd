##@ Intervenção humana
.PHONY: intervencao

intervencao: setup ## Pedidos que esperam uma pessoa: INTERVENCAO="listar" | "mostrar ID" | "reprocessar --todos" | "encerrar ID --motivo ..." (ALVO=)
	@scripts/intervencao.sh --alvo $(call palavra,$(ALVO)) $(or $(INTERVENCAO),listar)
