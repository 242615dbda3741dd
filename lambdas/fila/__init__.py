"""The peak: the API records an intention on a queue, the consumer turns each one into its effect exactly once.

The only writer of ``ffv-lab-fila-*`` tables. It imports ``comum`` and no other context.
"""
