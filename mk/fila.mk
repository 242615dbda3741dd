##@ Fila
.PHONY: carga dlq

carga: setup ## O mesmo pico nos dois desenhos, lado a lado (CARGA="--total 600 --desenhos fila")
	@scripts/carga.sh $(CARGA)

dlq: setup ## Pedidos parados na DLQ da fila: DLQ="listar" | "mostrar ID" | "devolver --todas" | "descartar ID --motivo ..."
	@scripts/dlq.sh $(or $(DLQ),listar)
