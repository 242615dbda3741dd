"""The real artifact: built twice it is the same bytes, and it holds what the functions need and the runtime lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from engine.build import BuildPlan, build
from engine.settings import ROOT, environment_python
from medidas.pacote import pacote

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def artifact() -> Path:
    """The artifact of the working tree, as `make deploy` uses it."""
    return build(BuildPlan.for_target("local"))


def test_building_again_from_nothing_gives_the_same_bytes(artifact: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "engine", "build", "--forcar"],
        cwd=ROOT,
        env=os.environ | {"CESTA_DIR_BUILD": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        check=True,
    )
    assert (tmp_path / "local/artefato.zip").read_bytes() == artifact.read_bytes()


def test_what_the_managed_runtime_ships_is_left_out(artifact: Path) -> None:
    with zipfile.ZipFile(artifact) as bundle:
        tops = {name.split("/")[0].split("-")[0].removesuffix(".py") for name in bundle.namelist()}
        noise = [name for name in bundle.namelist() if "__pycache__" in name or name.endswith(".pyc")]
    assert tops.isdisjoint({"boto3", "botocore", "s3transfer", "dateutil", "python_dateutil", "six", "awscrt"})
    assert noise == []


def test_every_handler_and_package_imports_where_the_functions_run(artifact: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(artifact) as bundle:
        bundle.extractall(tmp_path)
    resources = yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"]
    handlers = [r["Properties"]["Handler"] for r in resources.values() if r["Type"] == "AWS::Serverless::Function"]
    program = f"""
import importlib, sys
import aws_lambda_powertools, aws_xray_sdk, pybreaker, pydantic, ulid, urllib3, boto3
from aws_xray_sdk.core import xray_recorder
for packed in (aws_lambda_powertools, aws_xray_sdk, pydantic, urllib3):
    assert packed.__file__.startswith({str(tmp_path)!r}), packed.__file__
assert not boto3.__file__.startswith({str(tmp_path)!r}), boto3.__file__
for handler in {handlers!r}:
    module, function = handler.rsplit(".", 1)
    assert callable(getattr(importlib.import_module(module), function)), handler
"""
    done = subprocess.run(
        [str(environment_python("runtime")), "-c", program],
        cwd=tmp_path,
        env={"PATH": os.defpath, "AWS_DEFAULT_REGION": "sa-east-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_package_is_no_bigger_than_registered() -> None:
    plan = BuildPlan.for_target("local")
    measured = pacote(plan)
    registered = json.loads((ROOT / "medidas" / "contagens.json").read_text())["pacote"]

    assert measured["mb"] <= 30, "the limit of the package without the SDK"
    if (plan.runtime, plan.architecture) == (registered["runtime"], registered["arquitetura"]):
        assert measured == registered, "if it is meant: make contagens custo"
