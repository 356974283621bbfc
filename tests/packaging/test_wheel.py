"""Built from the source distribution, installed elsewhere, served without the checkout."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from graymatter_mcp.contract.load import load_bundle
from tests.spawned import FACT, ROOT, meet

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The two distributions, and an environment that holds the wheel alone."""

    source: Path
    """The unpacked source distribution, from which the wheel was built."""
    wheel: Path
    environment: Path

    @property
    def bin(self) -> Path:
        """Where the environment's commands are."""
        return self.environment / "bin"


def _run(*command: str | Path, cwd: Path) -> str:
    finished = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def _build(kind: str, source: Path, target: Path) -> Path:
    # The back end itself: a front end would first make an environment over the network.
    _run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", target, cwd=source)
    (built,) = target.iterdir()
    return built


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build sdist and wheel and install the wheel into an environment of its own."""
    folder = tmp_path_factory.mktemp("packaging")
    with tarfile.open(_build("sdist", ROOT, folder / "sdist")) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    wheel = _build("wheel", source, folder / "wheel")
    environment = folder / "environment"
    venv.create(environment, symlinks=True, with_pip=False)
    python = environment / "bin" / "python"
    _run(
        *(sys.executable, "-m", "pip", "--python", python, "install"),
        *("--quiet", "--no-index", "--no-deps", wheel),
        cwd=folder,
    )
    # Dependencies are those of this environment. A .pth file adds the directory without reading
    # the .pth files in it, so the checkout's editable installation stays out.
    (site,) = (environment / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return Built(source=source, wheel=wheel, environment=environment)


def _members(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_serves_its_own_schemas_and_remembers(built: Built, tmp_path: Path) -> None:
    """Issue: the schemas are shipped, and served from an installation elsewhere."""
    python = built.bin / "python"
    code = "import graymatter_mcp; print(graymatter_mcp.__file__)"
    assert _run(python, "-c", code, cwd=tmp_path).startswith(str(built.environment))
    seen = meet("graymatter", ["mcp", "serve"], cwd=tmp_path, env={}, path=built.bin)
    assert (seen.name, seen.facts) == ("graymatter", [FACT])
    assert [(tool["name"], tool["inputSchema"], tool["outputSchema"]) for tool in seen.tools] == [
        (tool.name, tool.input_schema, tool.output_schema) for tool in load_bundle().tools
    ]


def test_the_version_is_one_value_everywhere(built: Built, tmp_path: Path) -> None:
    """C13: `serverInfo.version` is that of the installed package."""
    seen = meet("graymatter", ["mcp", "serve"], cwd=tmp_path, env={}, path=built.bin)
    assert seen.version == VERSION
    assert built.wheel.name == f"graymatter_mcp-{VERSION}-py3-none-any.whl"
    assert built.source.name == f"graymatter_mcp-{VERSION}"
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changelog.split("\n## ")[1].startswith(f"{VERSION} ")


def test_the_wheel_holds_every_schema_file_and_nothing_foreign(built: Built) -> None:
    """Issue: no test data, no other top-level package; the contract complete."""
    names = set(_members(built.wheel))
    schemas = {
        f"graymatter_mcp/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "schemas").rglob("*.json")
    }
    assert schemas <= names
    assert {name.split("/")[0] for name in names} == {
        "graymatter_mcp",
        f"graymatter_mcp-{VERSION}.dist-info",
    }
    assert {Path(name).suffix for name in names if name.startswith("graymatter_mcp/")} <= {
        ".py",
        ".json",
        ".sql",
        ".typed",
    }
    licences = {name.rsplit("/", 1)[1] for name in names if "/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}


def test_no_file_of_the_wheel_names_a_path_of_the_machine_that_built_it(built: Built) -> None:
    """Issue: what is shipped is the same wherever it was built."""
    marks = [str(path).encode() for path in (ROOT, built.source, Path(sys.prefix))]
    members = _members(built.wheel)
    assert [name for name, content in members.items() if any(m in content for m in marks)] == []


def test_the_source_distribution_can_run_the_readmes_commands(built: Built) -> None:
    """Issue: it holds what a build, a reader and a test run need, and nothing that was made."""
    for name in (
        *("README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "constraints.txt", "pyproject.toml"),
        *(".ci/test", ".ci/run", "examples/quickstart.sh", "tests/conftest.py", "schemas/v1"),
    ):
        assert (built.source / name).exists(), name
    made = {".venv", ".graymatter", "node_modules", "__pycache__", "dist", ".git"}
    assert [path for path in built.source.rglob("*") if path.name in made] == []
