"""The recipes for conda and Spack say what the source distribution is and needs."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import types
from pathlib import Path

import pytest
import recipes
from checkout import ROOT, run

import build_library
from capi.overlay import runtimes

VARIANT = {"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"], "c_compiler": ["gcc"], "python": ["3.12.* *_cpython"]}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT)
    (made,) = folder.glob("*.tar.gz")
    recipes.write(made)
    return made


def test_nothing_is_left_to_fill_in(sdist: Path) -> None:
    for name in recipes.NAMES:
        assert not re.search(r"@[A-Z_]+@", (sdist.parent / name).read_text()), name


def test_conda_renders_it(sdist: Path) -> None:
    import rattler_build

    recipe = rattler_build.Stage0Recipe.from_file(sdist.parent / "recipe.yaml")
    platform = rattler_build.PlatformConfig(target_platform="linux-64")
    (one,) = recipe.render(
        rattler_build.VariantConfig.from_yaml(yaml(VARIANT)), rattler_build.RenderConfig(platform=platform)
    )
    made = one.recipe.to_dict()
    assert made["package"] == {"name": "jitcache", "version": build_library.version()}
    assert made["source"][0]["sha256"] == hashlib.sha256(sdist.read_bytes()).hexdigest()
    assert made["source"][0]["path"] == sdist.name
    text = str(made["requirements"])
    assert f"go-cgo >={runtimes.RELEASES[0]}" in text
    assert "hatchling >=1.27" in text


def test_conda_refuses_another_field(sdist: Path) -> None:
    """The parser would notice a recipe that is none."""
    import rattler_build

    wrong = (sdist.parent / "recipe.yaml").read_text().replace("requirements:", "requirement:")
    with pytest.raises(rattler_build.RattlerBuildError):
        rattler_build.Stage0Recipe.from_yaml(wrong)


def yaml(of: dict) -> str:
    return "".join(f"{key}: {value}\n" for key, value in of.items())


class Recorded:
    """What a package file of Spack says, by a stand-in for Spack's own module."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: list[tuple[str, tuple, dict]] = []
        self.ran: list[tuple[str, ...]] = []
        package = types.ModuleType("spack.package")
        for name in ("license", "version", "depends_on", "requires"):
            setattr(package, name, lambda *a, _name=name, **k: self.said.append((_name, a, k)))
        package.run_after = lambda phase: lambda f: f
        package.python = lambda *words: self.ran.append(words)
        systems = types.ModuleType("spack_repo.builtin.build_systems.python")
        systems.PythonPackage = type("PythonPackage", (), {"prefix": "/prefix"})
        for name, module in {"spack": types.ModuleType("spack"), "spack.package": package,
                             "spack_repo": types.ModuleType("spack_repo"), systems.__name__: systems}.items():  # fmt: skip
            monkeypatch.setitem(sys.modules, name, module)
        for parent in ("spack_repo.builtin", "spack_repo.builtin.build_systems"):
            monkeypatch.setitem(sys.modules, parent, types.ModuleType(parent))
        space: dict = {"__file__": str(file)}
        exec(compile(file.read_text(), file, "exec"), space)
        self.package = space["Jitcache"]


def test_spack_reads_what_is_so(sdist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Recorded(sdist.parent / "package.py", monkeypatch)
    assert Path(told.package.url.removeprefix("file://")) == sdist
    (version,) = [(a[0], k["sha256"]) for what, a, k in told.said if what == "version"]
    assert version == (build_library.version(), hashlib.sha256(sdist.read_bytes()).hexdigest())
    needs = {a[0] for what, a, _ in told.said if what == "depends_on"}
    assert needs == {"c", f"go@{runtimes.RELEASES[0]}:{runtimes.RELEASES[-1]}", "python@3.9:", "py-hatchling@1.27:"}


def test_commands_of_the_recipes_are_there(sdist: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = Recorded(sdist.parent / "package.py", monkeypatch)
    package = told.package()
    package.install_for_c()
    (words,) = told.ran
    assert words == ("cmake/install.py", "--prefix", "/prefix")
    assert "cmake/install.py --prefix ${{ PREFIX }}" in (sdist.parent / "recipe.yaml").read_text()
    run("tar", "-xzf", sdist, "-C", tmp_path, "--strip-components=1")
    assert "--prefix" in run(
        sys.executable, tmp_path / words[0], "--help", cwd=tmp_path, PYTHONPATH=os.fspath(tmp_path)
    )
