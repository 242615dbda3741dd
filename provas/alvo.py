"""Where the proofs run: the outputs that the deploy wrote, the AWS clients that reach it, and its time limits."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import urllib3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from engine.localstack import endereco
from provas.erros import AlvoNaoImplantadoError, SaidaAusenteError

ALVOS = ("local", "localstack", "aws")
RAIZ = Path(__file__).resolve().parent.parent
_DESLIGADO: tuple[Any, ...] = (None, "", False, "false", {}, [])


@dataclass(frozen=True)
class Prazos:
    """How long each kind of state may take on a target, in seconds.

    AWS publishes SQS metrics each minute and an idle queue can take up to 15 minutes to report again, so what hangs
    on an alarm waits much longer there than on an engine whose metrics are fed at once.
    """

    api: float
    mensagem: float
    execucao: float
    alarme_dispara: float
    alarme_normaliza: float
    intervalo_min: float
    intervalo_max: float
    latencia_api_ms: float


PRAZOS: Mapping[str, Prazos] = {
    "local": Prazos(10, 15, 45, 30, 45, 0.05, 0.5, 300),
    "localstack": Prazos(20, 60, 180, 240, 600, 0.1, 1.0, 1000),
    "aws": Prazos(20, 120, 240, 1200, 1800, 0.3, 5.0, 300),
}


@dataclass
class Alvo:
    """A deployed target.

    Attributes
    ----------
    nome : str
        One of :data:`ALVOS`.
    saidas : mapping
        Terraform outputs by name (``build/<alvo>/saidas.json``).
    endpoint : str or None
        URL of the engine; None on AWS (the SDK's own endpoints and credentials).
    """

    nome: str
    saidas: Mapping[str, Any]
    endpoint: str | None
    _clientes: dict[str, Any] = field(default_factory=dict, repr=False)
    _ambientes: dict[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    @classmethod
    def carregar(
        cls, nome: str, raiz: Path = RAIZ, ambiente: Mapping[str, str] | None = None, *, producao: bool = False
    ) -> Alvo:
        """Read the outputs of ``nome``.

        Parameters
        ----------
        producao : bool
            True lets a production target through: for tools that operate it, never for anything that injects failures.

        Raises
        ------
        AlvoNaoImplantadoError
            No outputs, unreadable outputs, or an AWS target that is (or may be) production.
        """
        env = os.environ if ambiente is None else ambiente
        arquivo = pasta_construida(raiz, env) / nome / "saidas.json"
        if not arquivo.is_file():
            raise AlvoNaoImplantadoError(
                f"O alvo {nome} não está implantado: falta build/{nome}/saidas.json. Rode: {_como_implantar(nome)}"
            )
        try:
            saidas = json.loads(arquivo.read_text(encoding="utf-8"))
        except (OSError, ValueError) as erro:
            raise AlvoNaoImplantadoError(
                f"build/{nome}/saidas.json não pode ser lido ({erro}). Rode de novo: {_como_implantar(nome)}"
            ) from erro
        if not isinstance(saidas, dict) or not saidas:
            raise AlvoNaoImplantadoError(f"build/{nome}/saidas.json está vazio. Rode de novo: {_como_implantar(nome)}")
        if nome == "aws" and not producao:
            _recusar_producao(saidas)
        return cls(nome, saidas, _endpoint(nome, env))

    @property
    def prazos(self) -> Prazos:
        """Time limits of this target."""
        return PRAZOS[self.nome]

    def tem(self, nome: str) -> bool:
        """Whether the output exists and is not off (null, empty, false)."""
        return self.saidas.get(nome) not in _DESLIGADO

    def saida(self, nome: str, porque: str = "") -> Any:
        """The output ``nome``.

        Raises
        ------
        SaidaAusenteError
            Missing or off; the message says why it is needed (``porque``) and what to run.
        """
        if not self.tem(nome):
            motivo = f" ({porque})" if porque else ""
            raise SaidaAusenteError(
                f"O alvo {self.nome} foi implantado sem a saída '{nome}'{motivo}. "
                f"Ligue-a no arquivo de variáveis do alvo e rode: {_como_implantar(self.nome)}"
            )
        return self.saidas[nome]

    def funcao(self, logico: str) -> str:
        """Deployed name of the function with that logical id in template.yaml."""
        funcoes = self.saida("funcoes", "nomes das funções implantadas")
        if not funcoes.get(logico):
            raise SaidaAusenteError(f"A função {logico} não está implantada no alvo {self.nome}.")
        return str(funcoes[logico])

    def variavel(self, logico: str, nome: str) -> str:
        """Environment variable of a deployed function ("" when it is not set): what really runs, not what was meant."""
        if logico not in self._ambientes:
            lida = self.cliente("lambda").get_function_configuration(FunctionName=self.funcao(logico))
            self._ambientes[logico] = lida.get("Environment", {}).get("Variables", {})
        return str(self._ambientes[logico].get(nome, ""))

    @cached_property
    def regiao(self) -> str:
        """Region, read from the deployed ARNs so that a stray AWS_REGION cannot point the proofs elsewhere."""
        for valor in self.saidas.values():
            if isinstance(valor, str) and valor.startswith("arn:aws"):
                partes = valor.split(":")
                if len(partes) > 5 and partes[3]:
                    return partes[3]
        raise SaidaAusenteError(f"Nenhuma saída do alvo {self.nome} traz um ARN com região.")

    def cliente(self, servico: str) -> Any:
        """The boto3 client of ``servico`` for this target; made once. No SDK retry hides a first answer on Lambda."""
        if servico not in self._clientes:
            credenciais = {}
            if self.endpoint:
                # Never the developer's own: an engine has no use for them.
                credenciais = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
            tentativas = 0 if servico == "lambda" else 4
            sessao: Any = boto3  # its stubs know each service by a literal, not by a variable
            self._clientes[servico] = sessao.client(
                servico,
                region_name=self.regiao,
                endpoint_url=self.endpoint,
                config=Config(retries={"max_attempts": tentativas}, connect_timeout=5, read_timeout=65),
                **credenciais,
            )
        return self._clientes[servico]

    @cached_property
    def http(self) -> urllib3.PoolManager:
        """HTTP client for the API and the gateway stand-in: no retries, so that what is seen is what was answered."""
        return urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(connect=5, read=35))

    def conferir_no_ar(self) -> None:
        """Raise :class:`AlvoNaoImplantadoError` unless the target answers an authenticated call."""
        try:
            self.cliente("sts").get_caller_identity()
        except (BotoCoreError, ClientError) as erro:
            onde = f" em {self.endpoint}" if self.endpoint else ""
            raise AlvoNaoImplantadoError(
                f"O alvo {self.nome} não responde{onde} ({type(erro).__name__}). Rode: {_como_implantar(self.nome)}"
            ) from erro


def pasta_construida(raiz: Path = RAIZ, ambiente: Mapping[str, str] | None = None) -> Path:
    """Folder of everything generated: CESTA_DIR_BUILD, as for the deploy, else ``build/`` in the repository."""
    escolhida = (os.environ if ambiente is None else ambiente).get("CESTA_DIR_BUILD", "").strip()
    return Path(escolhida).resolve() if escolhida else raiz / "build"


def _endpoint(nome: str, env: Mapping[str, str]) -> str | None:
    if nome == "aws":
        return None
    if nome == "local":
        return f"http://127.0.0.1:{env.get('CESTA_PORTA_MOTOR') or '4566'}"
    return endereco.endpoint(env)


def _recusar_producao(saidas: Mapping[str, Any]) -> None:
    """The proofs inject failures and create orders: never in production, and never where it cannot be told."""
    ambiente = saidas.get("ambiente")
    if not ambiente:
        raise AlvoNaoImplantadoError(
            "As saídas não dizem qual é o ambiente; as provas injetam falhas e não rodam sem saber que não é produção. "
            "Rode de novo: make deploy ALVO=aws"
        )
    if str(ambiente).lower() in ("producao", "produção", "prod", "production"):
        raise AlvoNaoImplantadoError(
            f"O ambiente implantado é '{ambiente}': as provas injetam falhas e não rodam em produção. "
            "Implante um ambiente de teste com: make deploy ALVO=aws"
        )


def _como_implantar(nome: str) -> str:
    return {
        "local": "make local-up deploy",
        "localstack": "make localstack-up deploy ALVO=localstack",
    }.get(nome, f"make deploy ALVO={nome}")
