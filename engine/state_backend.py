"""Where the Terraform state of a target is kept, and the folder Terraform runs in for it.

The root module declares the backend an account needs (``terraform/backend.tf``: S3, locked by a file beside the
state), without bucket, key or region: those are the account's, in ``terraform/ambientes/<name>.backend.hcl``. A target
without an account, and an account whose owner asks for it, keep the state in ``build/``: Terraform then runs in a
folder of links to the same files plus one that overrides the backend, because a backend cannot be chosen by an
argument.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from engine.settings import ROOT, EngineError, shown, target_dir

CONFIGURATION = ROOT / "terraform"
_BESIDE = ("asl", "template.yaml")
"""What the root module reads next to its own folder."""
_OVERRIDE = 'terraform {\n  backend "local" {}\n}\n'


def environment_name() -> str:
    """Name of an account's files in ``terraform/ambientes`` (``AMBIENTE``, default ``conta``).

    Raises
    ------
    EngineError
        If it is not a plain name.
    """
    name = os.environ.get("AMBIENTE", "").strip() or "conta"
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise EngineError(f"AMBIENTE={name!r} não é um nome de terraform/ambientes: minúsculas, dígitos e -.")
    return name


@dataclass(frozen=True)
class StateBackend:
    """Where one target keeps its state.

    Attributes
    ----------
    folder : Path
        Folder Terraform runs in.
    file : Path or None
        The state's file; None when it is remote.
    settings : Path or None
        File given to ``terraform init -backend-config``; None when the state is local.
    """

    folder: Path
    file: Path | None
    settings: Path | None

    @property
    def arguments(self) -> list[str]:
        """What commands that read or write the state need."""
        return [f"-state={self.file}"] if self.file else []

    @property
    def init_arguments(self) -> list[str]:
        """What ``terraform init`` needs."""
        return [f"-backend-config={self.settings}"] if self.settings else []

    def prepare(self) -> None:
        """Bring the folder Terraform runs in up to date with ``terraform/``; nothing to do for a remote state.

        Links that are right are left alone, so that another Terraform may be reading them.
        """
        if self.file is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = {
            self.folder / entry.name: entry
            for entry in CONFIGURATION.iterdir()
            if entry.name not in (".terraform", "backend_override.tf")
        }
        wanted |= {self.folder.parent / name: ROOT / name for name in _BESIDE}
        for link in (*self.folder.iterdir(), *self.folder.parent.iterdir()):
            if link.is_symlink() and link not in wanted:
                link.unlink()
        for link, entry in wanted.items():
            if not link.is_symlink() or link.readlink() != entry:
                link.unlink(missing_ok=True)
                link.symlink_to(entry)
        override = self.folder / "backend_override.tf"
        if not override.exists() or override.read_text() != _OVERRIDE:
            override.write_text(_OVERRIDE)


def _local(target: str, file: Path) -> StateBackend:
    return StateBackend(target_dir(target) / "raiz" / "terraform", file, None)


def account_files() -> tuple[Path, Path]:
    """The account's backend settings and the state it keeps here without them; either may not exist."""
    name = environment_name()
    return CONFIGURATION / "ambientes" / f"{name}.backend.hcl", target_dir("aws") / f"{name}.tfstate"


def has_resources(state: Path) -> bool:
    """Whether a local state describes anything.

    Raises
    ------
    EngineError
        If the file is not a state.
    """
    if not state.exists():
        return False
    try:
        return bool(json.loads(state.read_text()).get("resources"))
    except (ValueError, AttributeError):
        raise EngineError(f"{shown(state)} não é um estado do Terraform; recupere {state.name}.backup.") from None


def remote() -> StateBackend:
    """The account's remote state. Its settings have to exist."""
    return StateBackend(CONFIGURATION, None, account_files()[0])


def choose(target: str) -> StateBackend:
    """Where ``target`` keeps its state.

    Raises
    ------
    EngineError
        For an account: neither backend settings nor the wish to keep the state on this machine, or both at once.
    """
    if target != "aws":
        return _local(target, target_dir(target) / "terraform.tfstate")
    settings, file = account_files()
    if settings.exists():
        if has_resources(file):
            raise EngineError(
                f"há estado em {shown(file)} e um backend em {shown(settings)}; "
                "leve o estado para o backend antes: make migrar-estado."
            )
        return remote()
    if os.environ.get("ESTADO_LOCAL", "").strip() == "sim":
        return _local(target, file)
    raise EngineError(
        f"falta {shown(settings)}, que diz onde guardar o estado do Terraform; copie "
        "terraform/ambientes/conta.backend.hcl.exemplo e ajuste, ou repita com ESTADO_LOCAL=sim para guardá-lo só "
        f"nesta máquina, em {shown(file)}."
    )
