"""Terraform as this repository runs it: its own CLI configuration, data folder and state for each target."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from engine import state_backend
from engine.localstack import endereco
from engine.settings import EngineError, EngineSettings, build_root, shown, target_dir
from engine.state_backend import CONFIGURATION, StateBackend

_PROVIDER = "registry.terraform.io/hashicorp/aws"
_MINIMUM_VERSION = (1, 11)
_PROGRESS_INTERVAL_S = 10
_USUAL_MIRRORS = (
    "~/.terraform.d/plugins",
    "/usr/local/share/terraform/plugins",
    "/usr/share/terraform/plugins",
    "/opt/tf-plugins",
)


def _platform() -> str:
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{platform.system().lower()}_{machine}"


def _has_provider(mirror: Path) -> bool:
    """Whether a filesystem mirror holds the AWS provider for this machine, packed or unpacked."""
    folder = mirror / _PROVIDER
    unpacked = folder.glob(f"*/{_platform()}")
    packed = folder.glob(f"terraform-provider-aws_*_{_platform()}.zip")
    return any(unpacked) or any(packed)


def find_mirror() -> Path | None:
    """Filesystem mirror to install the provider from: ``TERRAFORM_ESPELHO``, else the usual places.

    Returns
    -------
    Path or None
        None when there is none and Terraform should ask the registry.

    Raises
    ------
    EngineError
        If ``TERRAFORM_ESPELHO`` is set and does not hold the provider for this machine.
    """
    chosen = os.environ.get("TERRAFORM_ESPELHO", "").strip()
    if chosen:
        mirror = Path(chosen).expanduser().resolve()
        if not _has_provider(mirror):
            raise EngineError(
                f"TERRAFORM_ESPELHO={chosen} não contém {_PROVIDER}/<versão>/{_platform()}; "
                "aponte para a raiz de um espelho de provedores do Terraform."
            )
        return mirror
    return next((path for path in (Path(p).expanduser() for p in _USUAL_MIRRORS) if _has_provider(path)), None)


def _own_configuration() -> Path | None:
    """The user's CLI configuration, when there really is one (the variable may point to a missing file)."""
    named = os.environ.get("TF_CLI_CONFIG_FILE", "").strip()
    for candidate in (Path(named) if named else None, Path("~/.terraformrc").expanduser()):
        if candidate is not None and candidate.is_file():
            return candidate
    return None


def cli_configuration(destination: Path) -> Path:
    """Choose the CLI configuration, writing one to ``destination`` unless the user's own is to be kept.

    An explicit ``TERRAFORM_ESPELHO`` wins over the user's file; otherwise the user's file is used as it is.
    """
    own = _own_configuration()
    if own is not None and not os.environ.get("TERRAFORM_ESPELHO", "").strip():
        return own
    mirror = find_mirror()
    text = "# Written by engine/terraform.py at each run.\n"
    if mirror is not None:
        text += (
            "provider_installation {\n"
            f'  filesystem_mirror {{\n    path    = "{mirror}"\n    include = ["{_PROVIDER}"]\n  }}\n'
            f'  direct {{\n    exclude = ["{_PROVIDER}"]\n  }}\n'
            "}\n"
        )
    destination.parent.mkdir(parents=True, exist_ok=True)
    destination.write_text(text)
    return destination


def require_terraform() -> str:
    """Path of a terraform that is new enough.

    Raises
    ------
    EngineError
        If it is missing or too old.
    """
    wanted = ".".join(map(str, _MINIMUM_VERSION))
    found = shutil.which("terraform")
    if not found:
        raise EngineError(
            f"terraform não está no PATH; instale o Terraform {wanted} ou mais novo "
            "(developer.hashicorp.com/terraform/install) e repita."
        )
    shown = subprocess.run([found, "version"], capture_output=True, text=True, check=False, env=_base_environment())
    match = re.search(r"Terraform v(\d+)\.(\d+)", shown.stdout)
    if not match or (int(match[1]), int(match[2])) < _MINIMUM_VERSION:
        raise EngineError(f"é preciso o Terraform {wanted} ou mais novo; {found} é {shown.stdout.split(chr(10))[0]!r}.")
    return found


def _base_environment() -> dict[str, str]:
    return {**os.environ, "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1", "TF_INPUT": "0"}


class Terraform:
    """Terraform on one target.

    Parameters
    ----------
    target : str
        ``local``, ``localstack`` or ``aws``.
    settings : EngineSettings
        Where the local engine is.
    backend : StateBackend, optional
        Where the state is; by default what :func:`engine.state_backend.choose` says, when it is first needed.
    """

    def __init__(self, target: str, settings: EngineSettings, backend: StateBackend | None = None) -> None:
        self.target = target
        self.settings = settings
        self.folder = target_dir(target)
        self.outputs_file = self.folder / "saidas.json"
        self._given_backend = backend
        self._binary = require_terraform()

    @cached_property
    def backend(self) -> StateBackend:
        """Where the state is, with the folder Terraform runs in made ready.

        Raises
        ------
        EngineError
            If it was not said where an account's state is.
        """
        backend = self._given_backend or state_backend.choose(self.target)
        backend.prepare()
        return backend

    @property
    def data_dir(self) -> Path:
        """Folder of providers, modules and the backend's address.

        One for each environment of an account and kind of backend, so that going from one to another is no surprise to
        Terraform, and a bucket changed by mistake is.
        """
        if self.target != "aws":
            return self.folder / "terraform"
        kind = "local" if self.backend.file else "s3"
        return self.folder / f"terraform-{state_backend.environment_name()}-{kind}"

    @property
    def environment(self) -> dict[str, str]:
        """Environment of every terraform call. Local targets never see the developer's own AWS credentials."""
        env = _base_environment()
        env["TF_CLI_CONFIG_FILE"] = str(cli_configuration(self.folder / "terraform.rc"))
        env["TF_DATA_DIR"] = str(self.data_dir)
        if self.target != "aws":
            env = {k: v for k, v in env.items() if not k.startswith("AWS_") or k == "AWS_CA_BUNDLE"}
            env |= {
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_CONFIG_FILE": os.devnull,
                "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
                "AWS_EC2_METADATA_DISABLED": "true",
                "AWS_DEFAULT_REGION": self.settings.region,
                "AWS_REGION": self.settings.region,
                "AWS_ENDPOINT_URL": self.settings.endpoint_of(self.target),
            }
        return env

    def run(self, *arguments: str, quiet: bool = False) -> str:
        """Run terraform in the target's root module.

        Parameters
        ----------
        quiet : bool
            Return the output instead of showing it; it is shown when the command fails.

        Raises
        ------
        EngineError
            If terraform fails.
        KeyboardInterrupt
            If it was interrupted, once Terraform has ended.
        """
        plain = () if quiet or sys.stdout.isatty() else ("-no-color",)
        with self._process((arguments[0], *plain, *arguments[1:]), piped=quiet) as process:
            said, _ = process.communicate()
        if process.returncode != 0:
            if quiet:
                print(said)
            raise EngineError(f"terraform {arguments[0]} falhou (alvo {self.target}).")
        return said or ""

    @contextmanager
    def _process(self, arguments: Sequence[str], *, piped: bool) -> Iterator[subprocess.Popen[str]]:
        """Terraform running; an interrupt is passed on to it, and raised only once it has written the state and ended.

        It has a process group of its own: from the terminal's it would hear a Ctrl-C twice, which ends it at once.
        """
        heard = False
        process: subprocess.Popen[str] | None = None

        def pass_on(_number: int, _frame: object) -> None:
            nonlocal heard
            heard = True
            if process:
                process.send_signal(signal.SIGINT)  # Terraform stops in order at it; SIGHUP would end it
            with suppress(OSError):  # the terminal may be closed
                os.write(2, b"interrompido: esperando o Terraform parar e gravar o estado...\n")

        before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            process = subprocess.Popen(
                [self._binary, f"-chdir={self.backend.folder}", *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else None,
                stderr=subprocess.STDOUT if piped else None,
                text=True,
                process_group=0,
            )
            with process:
                if heard:  # while it was starting
                    process.send_signal(signal.SIGINT)
                yield process
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if heard:
            raise KeyboardInterrupt

    def init(self) -> None:
        """Install providers and modules, and reach the state; skipped when nothing they depend on changed."""
        stamp = self.data_dir / "iniciado"
        seen = self._init_inputs()
        if stamp.exists() and stamp.read_text() == seen:
            return
        self.run("init", "-no-color", "-input=false", *self.backend.init_arguments, quiet=True)
        stamp.write_text(seen)

    def _init_inputs(self) -> str:
        """What decides whether init must run again: provider and module sources, CLI configuration, backend."""
        lines = [self.environment["TF_CLI_CONFIG_FILE"], str(find_mirror()), str(self.backend.folder)]
        if self.backend.settings:
            lines.append(self.backend.settings.read_text())
        for path in sorted(CONFIGURATION.rglob("*.tf")):
            if ".terraform" in path.parts:
                continue
            text = path.read_text()
            if re.search(r"^\s*(source\s*=|version\s*=|required_version|backend\s+\")", text, re.MULTILINE):
                sources = re.findall(r'^module "\w+"|^\s*source\s*=.*|^\s*version\s*=.*|backend.*', text, re.MULTILINE)
                lines.append(f"{path.relative_to(CONFIGURATION)}: {sources}")
        return "\n".join(lines)

    @property
    def variables_file(self) -> Path:
        """The target's file of variables.

        Raises
        ------
        EngineError
            If it does not exist.
        """
        name = self.target if self.target != "aws" else state_backend.environment_name()
        file = CONFIGURATION / "ambientes" / f"{name}.tfvars"
        if not file.exists():
            raise EngineError(
                f"falta {shown(file)}; copie terraform/ambientes/exemplo-conta.tfvars, ajuste e repita "
                "(AMBIENTE=nome escolhe outro arquivo)."
            )
        return file

    @property
    def region(self) -> str:
        """Region the target is deployed in: what its file of variables says, else the variable's default."""
        default = CONFIGURATION.joinpath("variables.tf").read_text().split('variable "regiao"', 1)[1]
        found = self._in_file("regiao") or _text_of("default", default)
        if found is None:
            raise EngineError(f"{shown(self.variables_file)} não diz a região (regiao = ...).")
        return found

    def _in_file(self, variable: str) -> str | None:
        """What the target's file of variables says of one of text."""
        return _text_of(variable, self.variables_file.read_text())

    def variables(self, *, runtime: str, architecture: str, artifact: Path) -> list[str]:
        """``-var-file`` and ``-var`` arguments of the target.

        Raises
        ------
        EngineError
            If the target's variables file does not exist, or asks for another runtime or architecture than the
            artifact's, which would win without a word.
        """
        file = self.variables_file
        arguments = [f"-var-file={file}", f"-var=arquivo_artefato={artifact}"]
        if self.target == "aws":
            for name, value in (("runtime", runtime), ("arquitetura", architecture)):
                asked = self._in_file(name)
                if asked not in (None, value):
                    raise EngineError(
                        f'{shown(file)} pede {name} = "{asked}" e o artefato é de {value}: tire a linha e escolha no '
                        f"comando ({name.upper()}={asked})."
                    )
        of_the_user = self.target == "localstack" and endereco.do_usuario() is not None
        if self.target == "aws" or of_the_user:  # the runtimes are AWS's
            arguments += [f"-var=runtime={runtime}", f"-var=arquitetura={architecture}"]
        elif self.target == "local":
            arguments.append(f"-var=prefixo_url_api={self.settings.endpoint_of(self.target)}/_aws/execute-api")
        else:
            # Our own LocalStack answers function URLs by path; one in Docker has names for them.
            arguments.append(f"-var=prefixo_url_funcao={self.settings.endpoint_of(self.target)}/_cesta/funcao")
        return arguments

    def outputs(self) -> dict[str, object]:
        """Read the outputs and write them, flattened to name: value, to ``saidas.json``."""
        raw = json.loads(self.run("output", "-json", *self.backend.arguments, quiet=True))
        values = {name: entry["value"] for name, entry in sorted(raw.items())}
        self.outputs_file.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n")
        return values

    def apply(self, arguments: Sequence[str]) -> None:
        """Apply without asking, showing progress only; everything Terraform said is in ``terraform.log``."""
        self._run_summarised("apply", arguments)

    def deployed(self) -> bool:
        """Whether the state describes anything. A remote one has to be reached: after :meth:`init`."""
        if self.backend.file:
            return state_backend.has_resources(self.backend.file)
        pulled = self.run("state", "pull", quiet=True).strip()  # empty before the first apply
        return bool(pulled and json.loads(pulled).get("resources"))

    def plan(self, arguments: Sequence[str], *, destroy: bool = False) -> Path:
        """Show the plan and keep it in a file, which is returned."""
        file = self.folder / "plano"
        extra = ["-destroy"] if destroy else []
        self.run("plan", "-compact-warnings", f"-out={file}", *self.backend.arguments, *extra, *arguments)
        return file

    def apply_plan(self, plan: Path) -> None:
        """Apply a plan that was shown before."""
        self.run("apply", *self.backend.arguments, str(plan))
        plan.unlink()

    def destroy(self, arguments: Sequence[str]) -> None:
        """Destroy without asking, showing progress only."""
        self._run_summarised("destroy", arguments)

    def _run_summarised(self, action: str, arguments: Sequence[str]) -> None:
        log = self.folder / "terraform.log"
        options = ("-auto-approve", "-no-color", "-compact-warnings", "-parallelism=20", *self.backend.arguments)
        done, said_at = 0, time.monotonic()
        with log.open("w") as stream, self._process((action, *options, *arguments), piped=True) as process:
            for line in process.stdout or ():
                stream.write(line)
                done += " complete after " in line and "Read complete" not in line
                with suppress(OSError):  # a closed terminal must not close Terraform's output
                    if line.startswith("Plan:") or " complete! " in line:
                        print(f"  {line.strip()}", flush=True)
                    if time.monotonic() - said_at >= _PROGRESS_INTERVAL_S:
                        said_at = time.monotonic()
                        print(f"  ... {done} recursos prontos", flush=True)
        if process.returncode != 0:
            text = log.read_text()
            start = text.find("Error: ")
            print(text[start if start >= 0 else -2000 :].strip())
            raise EngineError(f"terraform {action} falhou (alvo {self.target}); tudo em {shown(log)}.")


def _text_of(variable: str, text: str) -> str | None:
    """The literal text given to a variable in Terraform's language; None when it is not there."""
    found = re.search(rf'^\s*{variable}\s*=\s*"([^"]+)"', text, re.MULTILINE)
    return found[1] if found else None


def validate() -> None:
    """``terraform validate`` without a target: its own data folder, no state, no credentials.

    Raises
    ------
    EngineError
        If the configuration is not valid.
    """
    folder = build_root() / "lint"
    env = _base_environment()
    env["TF_CLI_CONFIG_FILE"] = str(cli_configuration(folder / "terraform.rc"))
    env["TF_DATA_DIR"] = str(folder / "terraform")
    binary = require_terraform()
    for arguments in (("init", "-backend=false", "-input=false"), ("validate",)):
        done = subprocess.run(
            [binary, f"-chdir={CONFIGURATION}", *arguments, "-no-color"],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise EngineError(f"terraform {arguments[0]} falhou:\n{done.stdout}{done.stderr}")
