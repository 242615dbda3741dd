"""The proofs: what each system promises, shown on a deployed target, with a report anyone can read.

``provas/<sistema>/*.py`` holds one proof per file (class derived from :class:`provas.base.Prova`);
``python -m provas`` (through ``scripts/provas.sh``) runs them and writes ``build/provas/relatorio.html``.
"""
