##@ A história de um pedido
.PHONY: onde

onde: setup ## A história inteira de um pedido, de todos os sistemas, em ordem: PEDIDO=... (ALVO=)
	@scripts/onde.sh "$(or $(PEDIDO),$(error diga qual pedido: make onde PEDIDO=...))" --alvo $(ALVO)
