##@ Limpar
.PHONY: limpar

limpar: setup ## Exporta a fila humana e as DLQs, destrói tudo em ALVO e prova que nada restou (CONFIRMAR=sim, MANTER=ARN)
	@scripts/limpar.sh --alvo $(ALVO) $(addprefix --manter ,$(MANTER))
