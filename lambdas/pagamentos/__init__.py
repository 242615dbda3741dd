"""Payments: the only caller of the gateway."""
