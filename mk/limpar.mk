##@ Limpar
.PHONY: limpar test-limpar

limpar: setup ## Exporta a fila humana e as DLQs, destrói tudo em ALVO e prova que nada restou (CONFIRMAR=sim, MANTER=ARN)
	@scripts/limpar.sh --alvo $(call palavra,$(ALVO)) $(foreach arn,$(MANTER),--manter $(call palavra,$(arn)))

test-limpar: setup ## O limpar de ponta a ponta, num motor só dele (uns 4 min)
	@$(ENGINE) build --alvo local
	@$(PY) -m pytest -q -m e2e tests/e2e_limpeza
