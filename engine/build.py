"""The one artifact every function runs: ``sam build``, then a zip that depends on its inputs only.

SAM resolves and downloads wheels for the runtime and architecture the template names. What AWS's managed
Python runtime already ships is then taken out, so that the SDK in use is the runtime's own, and the rest is
packed with sorted names, fixed times and fixed permissions.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from engine.localstack import endereco
from engine.settings import ROOT, EngineError, local_runtime, shown, target_dir

ANY_FUNCTION = "CriarPedido"
"""All functions share one CodeUri, so building one of them makes the artifact of all."""

LOCAL_RUNTIMES = ("python3.11", "python3.12", "python3.13", "python3.14")
AWS_RUNTIMES = LOCAL_RUNTIMES[1:3]
"""What Terraform's ``runtime`` accepts of AWS's; the last is the default."""
SHIPPED_BY_RUNTIME = ("boto3", "botocore", "s3transfer", "dateutil", "six.py")
"""In AWS's managed Python runtimes (and in .venvs/runtime) and needed by nothing else in the artifact.
jmespath and urllib3 are shipped too but stay: Powertools and the gateway client import them."""

_SHIPPED_DISTRIBUTIONS = ("boto3", "botocore", "s3transfer", "python_dateutil", "six")
_NOISE_DIRS = {"__pycache__", "tests", "bin"}
_DIST_INFO_KEPT = {"METADATA", "entry_points.txt", "top_level.txt"}
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date a zip can hold

BOOTSTRAP = """\
#!/bin/sh
# Entry point of the local engine only: there the functions have a custom runtime, so that AWS's own runtime
# client reports the real class name of an error. A managed runtime never looks at this file.
exec "${CESTA_PYTHON_RUNTIME:-python3}" -m awslambdaric "$_HANDLER"
"""


@dataclass(frozen=True)
class BuildPlan:
    """What to build and for which machine.

    Attributes
    ----------
    target : str
        ``local``, ``localstack`` or ``aws``; decides the folder of the result.
    runtime : str
        Lambda runtime name, ``python3.11`` to ``python3.14``; AWS's own are those Terraform's ``runtime`` accepts.
    architecture : str
        ``x86_64`` or ``arm64``.
    """

    target: str
    runtime: str
    architecture: str

    @classmethod
    def for_target(cls, target: str) -> BuildPlan:
        """Plan from the target and the ``RUNTIME`` and ``ARQUITETURA`` variables.

        Where our own engines run the functions, they do it under this very Python, so its version and architecture
        are the default; an account gets the newest runtime the template defaults to, on arm64, and so does the user's
        own LocalStack, whose containers are AWS's, on the architecture of this machine.
        """
        target_dir(target)
        of_aws = target == "aws" or (target == "localstack" and endereco.do_usuario() is not None)
        accepted = AWS_RUNTIMES if of_aws else LOCAL_RUNTIMES
        runtime = AWS_RUNTIMES[-1] if of_aws else local_runtime()
        architecture = "arm64" if target == "aws" else _local_architecture()
        runtime = os.environ.get("RUNTIME", "").strip() or runtime
        architecture = os.environ.get("ARQUITETURA", "").strip() or architecture
        if runtime not in accepted:
            raise EngineError(f"RUNTIME={runtime!r} não serve em {target}; use {' ou '.join(accepted)}.")
        if architecture not in {"x86_64", "arm64"}:
            raise EngineError(f"ARQUITETURA={architecture!r} não serve; use x86_64 ou arm64.")
        return cls(target, runtime, architecture)

    @property
    def artifact(self) -> Path:
        """Path of the zip."""
        return target_dir(self.target) / "artefato.zip"

    @property
    def record(self) -> Path:
        """Path of the small JSON that says what the zip was made from."""
        return target_dir(self.target) / "artefato.json"


def _local_architecture() -> str:
    return "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"


def inputs_digest(plan: BuildPlan) -> str:
    """SHA-256 (hex) of everything the artifact depends on: sources, requirements, template, builder and plan."""
    digest = hashlib.sha256(f"{plan.runtime} {plan.architecture}\n".encode())
    files = [ROOT / "template.yaml", ROOT / "requirements" / "sam.txt", Path(__file__)]
    files += sorted(
        path
        for path in (ROOT / "lambdas").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    )
    for path in files:
        digest.update(f"{path.relative_to(ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _find_interpreter(runtime: str) -> Path:
    """Find an interpreter of the runtime's version that has pip: SAM downloads wheels with it.

    Raises
    ------
    EngineError
        If this machine has none.
    """
    home = Path.home()
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv"))
    version = runtime.removeprefix("python")
    candidates: list[str | Path | None] = [shutil.which(runtime)]
    if runtime == local_runtime():
        candidates.insert(0, sys.executable)
    candidates += sorted((pyenv / "versions").glob(f"{version}*/bin/{runtime}"), reverse=True)
    candidates += sorted((home / ".local/share/uv/python").glob(f"cpython-{version}*/bin/{runtime}"), reverse=True)
    for candidate in candidates:
        if candidate is None:
            continue
        # A pyenv shim is on PATH even for a version that is not active; only running it tells.
        probe = subprocess.run(
            [str(candidate), "-c", "import pip, sys; print(sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
        if probe.returncode == 0 and probe.stdout.strip() == f"({version.replace('.', ', ')})":
            return Path(candidate)
    raise EngineError(
        f"o artefato pede {runtime} e não há um {runtime} com pip nesta máquina; "
        "instale-o ou escolha outro com RUNTIME=python3.x."
    )


def run_sam(plan: BuildPlan, workspace: Path, function: str = ANY_FUNCTION) -> Path:
    """Run ``sam build`` and return the folder with code and packages.

    Raises
    ------
    EngineError
        If SAM is not set up or fails; its output goes to ``sam.log`` in the workspace.
    """
    sam = ROOT / ".venvs" / "sam" / "bin" / "sam"
    if not sam.exists():
        raise EngineError("o ambiente .venvs/sam não existe; rode make setup.")
    interpreter = _find_interpreter(plan.runtime)
    shims = workspace / "bin"
    shims.mkdir(parents=True)
    # SAM looks for `python3.x` on PATH; a wrapper (not a link) keeps a virtual environment's own prefix.
    shim = shims / plan.runtime
    shim.write_text(f'#!/bin/sh\nexec "{interpreter}" "$@"\n')
    shim.chmod(0o755)
    output = workspace / "sam"
    env = {
        **os.environ,
        "PATH": f"{shims}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "SAM_CLI_TELEMETRY": "0",
        "AWS_DEFAULT_REGION": os.environ.get("AWS_DEFAULT_REGION", "us-east-1"),
        "__SAM_CLI_APP_DIR": str(workspace / "sam-home"),
    }
    command = [
        str(sam.with_name("python")),
        str(sam),
        "build",
        function,
        "--template-file",
        str(ROOT / "template.yaml"),
        "--build-dir",
        str(output),
        "--parameter-overrides",
        f"Runtime={plan.runtime}",
        f"Arquitetura={plan.architecture}",
    ]
    log = workspace / "sam.log"
    with log.open("wb") as stream:
        done = subprocess.run(
            command, cwd=workspace, env=env, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, check=False
        )
    if done.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise EngineError(f"sam build falhou (registro completo em {shown(log)}):\n{tail}")
    return output / function


def _is_noise(relative: Path) -> bool:
    """Whether a built file must stay out of the zip."""
    top = relative.parts[0]
    if top in SHIPPED_BY_RUNTIME or relative.suffix in {".pyc", ".pyi"}:
        return True
    if relative.name in {"requirements.txt", "py.typed"} or _NOISE_DIRS & set(relative.parts[:-1]):
        return True
    if top.endswith(".dist-info"):
        distribution = top.removesuffix(".dist-info").rsplit("-", 1)[0].lower()
        return distribution in _SHIPPED_DISTRIBUTIONS or relative.name not in _DIST_INFO_KEPT
    return False


def pack(folder: Path, destination: Path) -> None:
    """Zip a built folder so that equal content gives equal bytes, and add the local engine's bootstrap.

    Parameters
    ----------
    folder : Path
        What ``sam build`` left for one function.
    destination : Path
        The zip to write; replaced in one step, so that a reader never sees half a file.
    """
    entries = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not _is_noise(path.relative_to(folder))
    }
    entries["bootstrap"] = BOOTSTRAP.encode()
    partial = destination.with_suffix(".parcial")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, so that the permissions below count
            info.external_attr = (0o100755 if name == "bootstrap" else 0o100644) << 16
            bundle.writestr(info, entries[name])
    partial.replace(destination)


def build(plan: BuildPlan, *, force: bool = False) -> Path:
    """Make the artifact, unless the one that is there came from the same inputs.

    Returns
    -------
    Path
        The zip.

    Raises
    ------
    EngineError
        If there is nothing to build or SAM fails.
    """
    if not (ROOT / "lambdas" / "requirements.txt").exists():
        raise EngineError("falta lambdas/requirements.txt; gere com: python -m engine requisitos.")
    digest = inputs_digest(plan)
    if not force and _is_current(plan, digest):
        print(f"artefato em dia: {_describe(plan)}")
        return plan.artifact
    folder = target_dir(plan.target)
    workspace = folder / "construcao"
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir(parents=True)
    pack(run_sam(plan, workspace), plan.artifact)
    shutil.rmtree(workspace)
    plan.record.write_text(
        json.dumps(
            {
                "entradas": digest,
                "sha256": hashlib.sha256(plan.artifact.read_bytes()).hexdigest(),
                "runtime": plan.runtime,
                "arquitetura": plan.architecture,
            },
            indent=2,
        )
        + "\n"
    )
    print(f"artefato construído: {_describe(plan)}")
    return plan.artifact


def _is_current(plan: BuildPlan, digest: str) -> bool:
    try:
        record = json.loads(plan.record.read_text())
        return bool(
            record["entradas"] == digest and record["sha256"] == hashlib.sha256(plan.artifact.read_bytes()).hexdigest()
        )
    except (OSError, ValueError, KeyError):
        return False


def _describe(plan: BuildPlan) -> str:
    size = plan.artifact.stat().st_size / 1_000_000
    return f"{shown(plan.artifact)} ({size:.1f} MB, {plan.runtime}, {plan.architecture})"


def requirements_from_lock() -> str:
    """Text of ``lambdas/requirements.txt``: the lock's pins without hashes, which SAM's pip builder cannot mix
    with its per-platform downloads."""
    pins = []
    for line in (ROOT / "requirements" / "lambdas.txt").read_text().splitlines():
        if line and line[0] not in "# \t-":
            pins.append(line.rstrip("\\ ").strip())
    header = "# Made from requirements/lambdas.txt by: python -m engine requisitos\n"
    return header + "".join(f"{pin}\n" for pin in pins)
