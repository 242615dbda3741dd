"""Where the provider comes from, and what a local target may see."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine import terraform
from engine.settings import ROOT, EngineError, EngineSettings
from engine.terraform import Terraform, cli_configuration, find_mirror


@pytest.fixture(autouse=True)
def nothing_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path / "build"))
    monkeypatch.delenv("TERRAFORM_ESPELHO", raising=False)
    monkeypatch.delenv("TF_CLI_CONFIG_FILE", raising=False)
    monkeypatch.setattr(terraform, "_USUAL_MIRRORS", ("~/.terraform.d/plugins", str(tmp_path / "usual")))


def make_mirror(path: Path, *, packed: bool = False, platform: str | None = None) -> Path:
    folder = path / "registry.terraform.io/hashicorp/aws"
    folder.mkdir(parents=True)
    name = platform or terraform._platform()
    if packed:
        (folder / f"terraform-provider-aws_5.100.0_{name}.zip").touch()
    else:
        (folder / "5.100.0" / name).mkdir(parents=True)
    return path


@pytest.mark.parametrize("packed", [True, False])
def test_a_usual_place_is_found(tmp_path: Path, packed: bool) -> None:
    mirror = make_mirror(tmp_path / "usual", packed=packed)
    assert find_mirror() == mirror


def test_a_mirror_of_another_platform_is_of_no_use(tmp_path: Path) -> None:
    make_mirror(tmp_path / "usual", platform="plan9_mips")
    assert find_mirror() is None


def test_the_variable_wins_and_a_wrong_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_mirror(tmp_path / "usual")
    chosen = make_mirror(tmp_path / "chosen")
    monkeypatch.setenv("TERRAFORM_ESPELHO", str(chosen))
    assert find_mirror() == chosen
    monkeypatch.setenv("TERRAFORM_ESPELHO", str(tmp_path / "empty"))
    with pytest.raises(EngineError, match="TERRAFORM_ESPELHO"):
        find_mirror()


def test_without_a_mirror_terraform_asks_the_registry(tmp_path: Path) -> None:
    written = cli_configuration(tmp_path / "rc")
    assert "provider_installation" not in written.read_text()


def test_with_a_mirror_only_the_aws_provider_comes_from_it(tmp_path: Path) -> None:
    mirror = make_mirror(tmp_path / "usual")
    text = cli_configuration(tmp_path / "rc").read_text()
    assert f'path    = "{mirror}"' in text
    assert 'exclude = ["registry.terraform.io/hashicorp/aws"]' in text


def test_the_users_own_configuration_is_kept_unless_a_mirror_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.rc"
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(own))
    assert cli_configuration(tmp_path / "rc") == tmp_path / "rc"  # the variable points to nothing
    own.touch()
    assert cli_configuration(tmp_path / "rc") == own
    monkeypatch.setenv("TERRAFORM_ESPELHO", str(make_mirror(tmp_path / "chosen")))
    assert cli_configuration(tmp_path / "rc") == tmp_path / "rc"


def test_a_local_target_never_sees_the_developers_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "producao")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "real")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
    settings = EngineSettings.from_env()
    local = Terraform("local", settings).environment
    assert "AWS_PROFILE" not in local
    assert "AWS_SESSION_TOKEN" not in local
    assert local["AWS_ACCESS_KEY_ID"] == "test"
    assert local["AWS_ENDPOINT_URL"] == settings.endpoint
    monkeypatch.setenv("ESTADO_LOCAL", "sim")
    account = Terraform("aws", settings).environment
    assert account["AWS_PROFILE"] == "producao"
    assert account["AWS_ACCESS_KEY_ID"] == "AKIAREAL"
    assert "AWS_ENDPOINT_URL" not in account


def test_without_terraform_the_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match=r"terraform não está no PATH; instale o Terraform 1\.11"):
        terraform.require_terraform()


@pytest.mark.parametrize("value", ["abc", "80", "4566.5"])
def test_a_port_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CESTA_PORTA_MOTOR", value)
    with pytest.raises(EngineError, match="CESTA_PORTA_MOTOR"):
        EngineSettings.from_env()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", "prefixo_url_funcao=http://127.0.0.1:4666/_cesta/funcao"),
        ("http://localstack:4566", "runtime=python3.13 arquitetura=x86_64"),
    ],
    ids=["ours", "the user's"],
)
def test_what_each_localstack_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, expected: str) -> None:
    for name in ("LOCALSTACK_AUTH_TOKEN", "CESTA_PORTA_LOCALSTACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CESTA_URL_LOCALSTACK", url)
    monkeypatch.setattr(terraform, "require_terraform", lambda: "terraform")
    target = Terraform("localstack", EngineSettings.from_env())

    given = target.variables(runtime="python3.13", architecture="x86_64", artifact=tmp_path / "a.zip")

    assert " ".join(argument.removeprefix("-var=") for argument in given[2:]) == expected


@pytest.mark.parametrize("line", ['runtime = "python3.12"', 'arquitetura     = "x86_64"'])
def test_a_file_that_asks_for_another_artifact_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    (tmp_path / "ambientes").mkdir()
    (tmp_path / "ambientes/conta.tfvars").write_text(f'regiao = "sa-east-1"\n{line}\n')
    monkeypatch.delenv("AMBIENTE", raising=False)
    monkeypatch.setattr(terraform, "CONFIGURATION", tmp_path)
    monkeypatch.setattr(terraform, "require_terraform", lambda: "terraform")
    account = Terraform("aws", EngineSettings.from_env())

    name, _, asked = line.partition("=")
    with pytest.raises(EngineError, match=f"{name.strip().upper()}={asked.strip().strip(chr(34))}"):
        account.variables(runtime="python3.13", architecture="arm64", artifact=tmp_path / "a.zip")
    assert account.variables(
        runtime="python3.12" if name.startswith("runtime") else "python3.13",
        architecture="arm64" if name.startswith("runtime") else "x86_64",
        artifact=tmp_path / "a.zip",
    )


_SLOW_TO_STOP = f"""#!{sys.executable} -I
import os, pathlib, signal, sys, time
if "version" in sys.argv:
    sys.exit(print("Terraform v1.11.4"))
told = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _frame: told.append(number))
state = pathlib.Path(os.environ["STATE"])
state.write_text("running")
end = time.monotonic() + 20
while not told and time.monotonic() < end:
    time.sleep(0.05)
time.sleep(1)
print("stopped", flush=True)
state.write_text(f"told {{len(told)}}")
sys.exit(1)
"""
_COMMAND = """
import sys
from pathlib import Path
from engine.settings import EngineSettings
from engine.terraform import Terraform
Path(sys.argv[2]).touch()
target = Terraform("local", EngineSettings.from_env())
try:
    target.destroy([]) if sys.argv[1] == "destroy" else target.apply_plan(Path(sys.argv[2]))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("action", ["destroy", "apply_plan"])
@pytest.mark.parametrize(
    ("sent", "to_all"),
    [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, True)],
    ids=["Ctrl-C", "kill", "closed terminal"],
)
def test_an_interrupted_terraform_is_waited_for(
    tmp_path: Path, action: str, sent: signal.Signals, to_all: bool
) -> None:
    binary = tmp_path / "bin/terraform"
    binary.parent.mkdir()
    binary.write_text(_SLOW_TO_STOP)
    binary.chmod(0o755)
    state = tmp_path / "state"
    with subprocess.Popen(
        [sys.executable, "-c", _COMMAND, action, str(tmp_path / "plan")],
        env={
            **os.environ,
            "PATH": f"{binary.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "STATE": str(state),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as command:
        while not (state.exists() and state.read_text()):
            assert command.poll() is None, command.communicate()
        (os.killpg if to_all else os.kill)(command.pid, sent)
        _, said = command.communicate(timeout=30)
        written = state.read_text()

    assert written == "told 1", "it ended before Terraform had written the state, or told it twice"
    assert command.returncode == 130
    assert "esperando o Terraform" in said
