"""Conformance probes: what a target really does with each behaviour the design rests on.

``make conformance ALVO=local|localstack|aws`` makes small resources of its own on the target, looks, deletes them, and
compares what it saw with ``docs/fidelity/<alvo>.json``. ``docs/fidelity.md`` is generated from those files and from
``linhas`` (one row per behaviour: what AWS does, by which page, and which tests of ours would go red).

``alvo``     clients and throw-away resources   ``sondas_*``  the probes, by service
``linhas``   the rows                           ``tabela``    the generated page
"""
