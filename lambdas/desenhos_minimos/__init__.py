"""The designs the labs start from, and the gateway stand-in: deployed by variable, never in an account by default.

Tables: the stand-in keeps everything in ``cesta-gateway-simulado`` (hash ``pk`` S, range ``sk`` S; layout in
:mod:`desenhos_minimos.gateway_tabela`); the synchronous design writes ``cesta-estoque`` and ``cesta-pedidos`` directly.
"""
