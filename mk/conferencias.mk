##@ Conferências
.PHONY: medir-estoque

medir-estoque: ## O item de estoque depois de milhares de pedidos, aqui e no desenho do laboratório (depois de localstack-setup; PEDIDOS=10000: uns 12 min)
	@PYTHONPATH=lambdas $(PY) -m tests.medidas.estoque $(if $(PEDIDOS),--pedidos $(call palavra,$(PEDIDOS)))
