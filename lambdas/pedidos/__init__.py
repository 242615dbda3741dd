"""Orders: the only writer of ``cesta-pedidos``, with the state machine."""
