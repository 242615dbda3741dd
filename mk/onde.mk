##@ Ver o que está acontecendo
.PHONY: onde alarmes gateway

onde: setup ## A história inteira de um pedido, de todos os sistemas, em ordem: PEDIDO=... (ALVO=)
	@scripts/onde.sh $(call palavra,$(or $(PEDIDO),$(error diga qual pedido: make onde PEDIDO=...))) --alvo $(call palavra,$(ALVO))

alarmes: setup ## Os alarmes que estão tocando e onde o runbook fala deles (ALVO=)
	@scripts/alarmes.sh --alvo $(call palavra,$(ALVO))

gateway: setup ## Derruba ou levanta o gateway de mentira: MODO=indisponivel | normal (ALVO=)
	@scripts/gateway.sh $(call palavra,$(or $(MODO),$(error diga o modo: make gateway MODO=indisponivel ou MODO=normal))) --alvo $(call palavra,$(ALVO))
