"""Cadência: every change of an order's status, written once, in order, and shown to the store within seconds.

The way of one change: ``pedidos_cadencia`` → stream → ``consumidor`` → ``painel_operacao`` → ``api`` → page.
``reprocessar_dlq`` brings back what the mapping discarded; ``reconciliar_painel`` marks what the stream no longer
holds.
"""
