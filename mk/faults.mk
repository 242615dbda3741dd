##@ Falhas
.PHONY: faults fault

faults: setup ## Todas as falhas simples e em pares, e os mutantes, em dois processos (FALHAS="--seed 2")
	@PYTHONPATH=lambdas $(PY) -m tests.faults $(FALHAS)

fault: setup ## Repete uma falha e conta o que houve (CASE='confirm-refused/EstornarPagamento#1:fail-after')
	@PYTHONPATH=lambdas $(PY) -m tests.faults $(call palavra,$(or $(CASE),$(error diga a falha: make fault CASE=...; make faults joga todas)))
