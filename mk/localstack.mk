# The second, stricter engine (LocalStack without Docker) and the conformance probes. Included by the main Makefile.
.PHONY: localstack-setup localstack-up localstack-down localstack-status test-localstack conformance

localstack-setup: setup ## Instala o LocalStack (Python 3.13, Java 17) sem subir nada
	@.venv/bin/python -m engine.localstack setup

localstack-up: setup ## Sobe o segundo motor, mais rigoroso, sem Docker (use depois ALVO=localstack)
	@.venv/bin/python -m engine.localstack up

localstack-down: ## Para o segundo motor e tudo o que ele iniciou
	@if [ -x .venv/bin/python ]; then .venv/bin/python -m engine.localstack down; else echo "motor nunca iniciado"; fi

localstack-status: ## Diz se o segundo motor está no ar
	@.venv/bin/python -m engine.localstack status

test-localstack: setup ## Testes de ponta a ponta no segundo motor (sobe, implanta, testa e para)
	@scripts/testar-localstack.sh $(TESTES)

conformance: setup ## Sonda o alvo e compara com docs/fidelity (ALVO=, SONDAS="texto", ACEITAR=1 registra)
	@.venv/bin/python -m conformidade --alvo $(call palavra,$(ALVO)) $(if $(ACEITAR),--aceitar) $(SONDAS)
