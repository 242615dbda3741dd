"""Tests that drive a real handler through a model of the platform: moto answers for AWS."""

from tests.unit.conftest import aws, processo_limpo

__all__ = ["aws", "processo_limpo"]
