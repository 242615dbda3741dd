##@ Segurança
.PHONY: varredura

varredura: setup ## Procura números e tokens de cartão em logs, mensagens, execuções, métricas e tabelas (ALVO=)
	@$(PY) -m operacao.varredura --alvo $(ALVO)
