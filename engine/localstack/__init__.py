"""The second, stricter engine: LocalStack's core on the machine itself, without Docker and without an account.

``python -m engine.localstack setup|up|down|status``. Two ways, chosen by what is there:

- CESTA_URL_LOCALSTACK or LOCALSTACK_AUTH_TOKEN is set: a LocalStack that the user runs is used as it is;
- otherwise the pinned core is installed in ``.venvs/localstack`` and started as a process of this machine.

``endereco`` says where it is, ``preparo`` finds the interpreter and Java and installs, ``processo`` starts and stops,
``plugin`` is installed into the engine's environment and makes functions and tables run there.
"""
