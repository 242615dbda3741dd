"""The artifact's bytes depend on its content only, and what the managed runtime ships stays out."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path

import pytest

from engine import build as build_module
from engine.build import BuildPlan, build, inputs_digest, pack, requirements_from_lock
from engine.settings import EngineError

CONTENT = {
    "pedidos/criar_pedido.py": b"x = 1\n",
    "pedidos/__pycache__/criar_pedido.cpython-311.pyc": b"\0",
    "painel/pagina/index.html": b"<p>",
    "boto3/__init__.py": b"",
    "botocore/data/s3.json": b"{}",
    "s3transfer/__init__.py": b"",
    "dateutil/parser.py": b"",
    "six.py": b"",
    "jmespath/__init__.py": b"",
    "boto3-1.0.dist-info/METADATA": b"",
    "python_dateutil-2.9.dist-info/METADATA": b"",
    "pydantic-2.0.dist-info/METADATA": b"Name: pydantic",
    "pydantic-2.0.dist-info/RECORD": b"/home/someone/secret-path",
    "requirements.txt": b"boto3",
}


def write(folder: Path, names: list[str], mtime: int, mode: int) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT[name])
        path.chmod(mode)
        os.utime(path, (mtime, mtime))
    return folder


def test_order_times_and_permissions_of_the_sources_do_not_reach_the_zip(tmp_path: Path) -> None:
    first = write(tmp_path / "a", sorted(CONTENT), 1_000_000_000, 0o600)
    second = write(tmp_path / "b", sorted(CONTENT, reverse=True), 1_700_000_000, 0o755)
    pack(first, tmp_path / "a.zip")
    pack(second, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_changed_byte_reaches_the_zip(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", sorted(CONTENT), 1_000_000_000, 0o600)
    pack(folder, tmp_path / "before.zip")
    (folder / "pedidos/criar_pedido.py").write_bytes(b"x = 2\n")
    pack(folder, tmp_path / "after.zip")
    assert (tmp_path / "before.zip").read_bytes() != (tmp_path / "after.zip").read_bytes()


def test_only_what_the_functions_need_is_packed(tmp_path: Path) -> None:
    pack(write(tmp_path / "a", sorted(CONTENT), 1_000_000_000, 0o600), tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as bundle:
        assert bundle.namelist() == [
            "bootstrap",
            "jmespath/__init__.py",
            "painel/pagina/index.html",
            "pedidos/criar_pedido.py",
            "pydantic-2.0.dist-info/METADATA",
        ]
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in bundle.infolist()}
    assert modes["bootstrap"] == 0o755
    assert {mode for name, mode in modes.items() if name != "bootstrap"} == {0o644}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository whose `sam build` only copies the sources, counting its runs in `runs`."""
    root = tmp_path / "repo"
    (root / "lambdas/pedidos").mkdir(parents=True)
    (root / "lambdas/pedidos/criar_pedido.py").write_text("x = 1\n")
    (root / "lambdas/requirements.txt").write_text("")
    (root / "requirements").mkdir()
    (root / "requirements/sam.txt").write_text("")
    (root / "template.yaml").write_text("Resources: {}\n")
    (root / "engine").mkdir()
    builder = root / "engine/build.py"
    builder.write_text(Path(build_module.__file__).read_text())
    monkeypatch.setattr(build_module, "ROOT", root)
    monkeypatch.setattr(build_module, "__file__", str(builder))
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path / "build"))

    def copy_sources(plan: BuildPlan, workspace: Path) -> Path:
        with (root / "runs").open("a") as runs:
            runs.write(f"{plan.runtime}\n")
        return root / "lambdas"

    monkeypatch.setattr(build_module, "run_sam", copy_sources)
    return root


def runs(repository: Path) -> int:
    path = repository / "runs"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_nothing_is_rebuilt_until_an_input_changes(repository: Path) -> None:
    plan = BuildPlan("local", "python3.11", "x86_64")
    build(plan)
    build(plan)
    assert runs(repository) == 1
    (repository / "lambdas/pedidos/criar_pedido.py").write_text("x = 2\n")
    build(plan)
    assert runs(repository) == 2
    build(BuildPlan("local", "python3.12", "x86_64"))
    assert runs(repository) == 3


def test_a_damaged_artifact_is_rebuilt(repository: Path) -> None:
    plan = BuildPlan("local", "python3.11", "x86_64")
    intact = build(plan).read_bytes()
    plan.artifact.write_bytes(intact[:-1])
    assert build(plan).read_bytes() == intact
    assert runs(repository) == 2


def test_compiled_files_do_not_count_as_inputs(repository: Path) -> None:
    plan = BuildPlan("local", "python3.11", "x86_64")
    before = inputs_digest(plan)
    cache = repository / "lambdas/pedidos/__pycache__"
    cache.mkdir()
    (cache / "criar_pedido.cpython-311.pyc").write_bytes(b"\0")
    assert inputs_digest(plan) == before


@pytest.mark.parametrize(
    ("variable", "value"), [("RUNTIME", "python3.11"), ("RUNTIME", "nodejs22.x"), ("ARQUITETURA", "amd64")]
)
def test_an_unknown_runtime_or_architecture_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(EngineError, match=variable):
        BuildPlan.for_target("aws")


def test_an_account_gets_arm64_and_a_current_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUNTIME", raising=False)
    monkeypatch.delenv("ARQUITETURA", raising=False)
    assert BuildPlan.for_target("aws") == BuildPlan("aws", "python3.13", "arm64")


def test_an_account_is_built_for_what_terraform_accepts_there() -> None:
    variables = (build_module.ROOT / "terraform/variables.tf").read_text()
    [condition] = re.findall(r"contains\((\[[^]]+\]), var\.runtime\)", variables)
    assert {name for name in json.loads(condition) if name.startswith("python")} == set(build_module.AWS_RUNTIMES)


def test_a_localstack_of_the_users_runs_awss_own_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCALSTACK_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("CESTA_URL_LOCALSTACK", raising=False)
    here = build_module._local_architecture()
    assert BuildPlan.for_target("localstack") == BuildPlan("localstack", build_module.local_runtime(), here)

    monkeypatch.setenv("CESTA_URL_LOCALSTACK", "http://localstack:4566")
    assert BuildPlan.for_target("localstack") == BuildPlan("localstack", "python3.13", here)


def test_the_functions_requirements_are_the_lock_pins() -> None:
    committed = (build_module.ROOT / "lambdas/requirements.txt").read_text()
    assert committed == requirements_from_lock()
    assert "pydantic==" in committed
    assert "--hash" not in committed
