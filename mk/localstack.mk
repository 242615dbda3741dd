# The second, stricter engine (LocalStack without Docker) and the conformance probes. Included by the main Makefile.
.PHONY: localstack-setup localstack-up localstack-down localstack-status test-localstack conformance

localstack-setup: ## Instala o LocalStack (Python 3.13, Java 17) sem subir nada
	@.venv/bin/python -m engine.localstack setup

localstack-up: ## Sobe o segundo motor, mais rigoroso, sem Docker (use depois ALVO=localstack)
	@.venv/bin/python -m engine.localstack up

localstack-down: ## Para o segundo motor e tudo o que ele iniciou
	@.venv/bin/python -m engine.localstack down

localstack-status:
	@.venv/bin/python -m engine.localstack status

test-localstack: ## Testes de ponta a ponta no segundo motor (sobe, implanta, testa e para)
	@scripts/testar-localstack.sh $(TESTES)

conformance: ## Sonda o alvo e compara com docs/fidelity (ALVO=, SONDAS="texto", ACEITAR=1 registra)
	@.venv/bin/python -m conformidade --alvo $(or $(ALVO),local) $(if $(ACEITAR),--aceitar) $(SONDAS)
