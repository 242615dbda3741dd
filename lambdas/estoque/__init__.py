"""Stock: the only writer of ``cesta-estoque``."""
