##@ Medidas
.PHONY: contagens

contagens: setup ## Regrava medidas/contagens.json: o que um pedido custa em transições, unidades, invocações e bytes de log
	@PYTHONPATH=lambdas $(PY) -m tests.medidas.contagens --gravar 2>/dev/null
