##@ Segurança
.PHONY: varredura auditar

varredura: setup ## Procura números e tokens de cartão em logs, mensagens, execuções, métricas, tabelas e descartados (ALVO=)
	@$(PY) -m operacao.varredura --alvo $(call palavra,$(ALVO))

auditar: setup ## Procura vulnerabilidades conhecidas nas travas (pip-audit; precisa alcançar pypi.org ou osv.dev)
	@scripts/auditar.sh
